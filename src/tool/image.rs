//! Images for the model: known by their content, decoded within bounds, made to fit.

use std::fs::File;
use std::io::{self, Cursor, Read as _};
use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use image::codecs::jpeg::JpegEncoder;
use image::imageops::{self, FilterType};
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Rgba, RgbaImage};

use super::limit::{add_notes, size};
use super::{ToolError, ToolOutput, text_block};
use crate::event::ImageContent;

/// Most pixels on each side of what is sent.
const SIDE: u32 = 2000;

/// Most bytes of base64 that are sent: 4.5 MB.
const ENCODED: usize = 9 << 19;

/// Most bytes of a file that is decoded.
const FILE: u64 = 64 << 20;

/// Most pixels that are decoded: a photo of a good telephone.
const PIXELS: u64 = 50_000_000;

/// Most bytes of decoded pixels.
const DECODED: u64 = 200 << 20;

/// Up to so many pixels are scaled by the slow filter, whose memory grows with the width.
const FINE: u64 = 8_000_000;

/// Qualities of JPEG to try.
const QUALITIES: [u8; 4] = [85, 70, 55, 40];

/// One at a time, so that several calls in a turn need the memory of one.
static DECODING: Mutex<()> = Mutex::new(());

/// The format of the image that begins with `start`, 32 bytes or more. Text may begin with the
/// letters of a format.
pub(crate) fn format(start: &[u8]) -> Option<ImageFormat> {
    sniff(start).filter(|_| !is_text(start))
}

/// Whether the start of a file is UTF-8, but for a character cut at its end, without NUL.
fn is_text(start: &[u8]) -> bool {
    let is_utf8 = match std::str::from_utf8(start) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    is_utf8 && memchr::memchr(0, start).is_none()
}

/// What the first bytes of a file say it is; 32 are enough.
fn sniff(start: &[u8]) -> Option<ImageFormat> {
    let number = |at: usize| {
        let bytes = start.get(at..).and_then(<[u8]>::first_chunk);
        bytes.copied().map(u32::from_le_bytes)
    };
    Some(match start {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => ImageFormat::Png,
        [0xff, 0xd8, 0xff, ..] => ImageFormat::Jpeg,
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => ImageFormat::Gif,
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => ImageFormat::WebP,
        // Two letters are not enough: unused fields are zero, a header of a known length follows.
        [b'B', b'M', ..] if number(6) == Some(0) => match number(14) {
            Some(12 | 40 | 52 | 56 | 64 | 108 | 124) => ImageFormat::Bmp,
            _ => return None,
        },
        _ => return None,
    })
}

/// The image in `file`, as a result of `read`. It is scaled down to what services take, if `fit`.
pub(super) fn show(
    file: &File,
    shown: &str,
    format: ImageFormat,
    fit: bool,
) -> Result<ToolOutput, ToolError> {
    let (block, notes) = load(file, shown, format, fit)?;
    let mut text = format!("Read image file [{}]", block.mime_type);
    add_notes(&mut text, &notes);
    let mut output = ToolOutput::text("", None);
    output.result.content = vec![text_block(text), block.into()];
    Ok(output)
}

/// The image in `file` as a block, and what the model should know about it. It is scaled down to what
/// services take, if `fit`.
pub(crate) fn load(
    file: impl io::Read,
    shown: &str,
    format: ImageFormat,
    fit: bool,
) -> Result<(ImageContent, Vec<String>), ToolError> {
    let mut bytes = Vec::new();
    file.take(FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(ToolError::io("read", shown))?;
    if bytes.len() as u64 > FILE {
        return Err(ToolError::ImageTooLarge {
            path: shown.to_owned(),
            size: format!("over {}", size(FILE)),
            most: size(FILE),
        });
    }
    let one_at_a_time = DECODING.lock().unwrap_or_else(PoisonError::into_inner);
    let picture = prepare(bytes, format, fit).map_err(|refusal| match refusal {
        Refusal::Broken(error) => ToolError::BrokenImage {
            path: shown.to_owned(),
            format: name(format),
            reason: error.to_string(),
        },
        Refusal::TooLarge(width, height) => ToolError::ImageTooLarge {
            path: shown.to_owned(),
            size: format!("{width}x{height} pixels"),
            most: format!("{} megapixels", PIXELS / 1_000_000),
        },
    })?;
    drop(one_at_a_time);
    let block = ImageContent {
        data: BASE64_STANDARD.encode(&picture.bytes),
        mime_type: picture.format.to_mime_type().to_owned(),
    };
    Ok((block, picture.notes))
}

/// An image that can be sent.
struct Picture {
    bytes: Vec<u8>,
    format: ImageFormat,
    notes: Vec<String>,
}

enum Refusal {
    Broken(ImageError),
    TooLarge(u32, u32),
}

impl From<ImageError> for Refusal {
    fn from(error: ImageError) -> Self {
        Self::Broken(error)
    }
}

fn prepare(bytes: Vec<u8>, format: ImageFormat, fit: bool) -> Result<Picture, Refusal> {
    let mut reader = ImageReader::with_format(Cursor::new(&bytes), format);
    let mut limits = image::Limits::default();
    limits.max_alloc = Some(DECODED);
    reader.limits(limits);
    let mut decoder = reader.into_decoder()?;
    let (width, height) = decoder.dimensions();
    let pixels = u64::from(width) * u64::from(height);
    if pixels > PIXELS || decoder.total_bytes() > DECODED {
        return Err(Refusal::TooLarge(width, height));
    }
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    // Decoded even if it is sent as it is: a service that cannot read an image refuses all further
    // requests with it.
    let image = DynamicImage::from_decoder(decoder)?;
    let is_small = width.max(height) <= SIDE && base64_length(bytes.len()) <= ENCODED;
    if format != ImageFormat::Bmp && (is_small || !fit) {
        let notes = Vec::new();
        return Ok(Picture {
            bytes,
            format,
            notes,
        });
    }
    drop(bytes);
    Ok(convert(image, orientation, format, fit)?)
}

/// Writes the image anew: smaller if it has to `fit`, in a format that services take.
fn convert(
    mut image: DynamicImage,
    orientation: Orientation,
    from: ImageFormat,
    fit: bool,
) -> Result<Picture, ImageError> {
    let pixels = u64::from(image.width()) * u64::from(image.height());
    let original = image.width().max(image.height());
    let mut whole = (image.width(), image.height());
    if fit && original > SIDE {
        image = if pixels > FINE {
            image.thumbnail(SIDE, SIDE)
        } else {
            image.resize(SIDE, SIDE, FilterType::CatmullRom)
        };
    }
    // The new file does not say how a camera was held. Turned only now, for that makes a copy.
    let before = (image.width(), image.height());
    image.apply_orientation(orientation);
    if before != (image.width(), image.height()) {
        whole = (whole.1, whole.0);
    }
    image = with_bytes(image);
    let most = if fit { ENCODED } else { usize::MAX };
    let (bytes, format) = loop {
        if let Some(fitting) = encode(&image, from, most)? {
            break fitting;
        }
        let smaller = |side: u32| (side * 3 / 4).max(1);
        let (width, height) = (smaller(image.width()), smaller(image.height()));
        image = image.resize_exact(width, height, FilterType::CatmullRom);
    };

    let mut notes = Vec::new();
    let (width, height) = (image.width(), image.height());
    if (width, height) != whole {
        let factor = f64::from(original) / f64::from(width.max(height));
        let (w, h) = whole;
        notes.push(format!(
            "Scaled from {w}x{h} to {width}x{height}: multiply coordinates by {factor:.2} to get \
             those in the file"
        ));
    }
    if matches!(from, ImageFormat::Gif | ImageFormat::WebP) {
        notes.push("If it moves, this is its first frame".to_owned());
    }
    if format != from {
        notes.push(format!("Converted from {}", name(from)));
    }
    Ok(Picture {
        bytes,
        format,
        notes,
    })
}

/// The image with channels of one byte.
fn with_bytes(image: DynamicImage) -> DynamicImage {
    let color = image.color();
    if color.has_alpha() {
        image.into_rgba8().into()
    } else if color.has_color() {
        image.into_rgb8().into()
    } else {
        image.into_luma8().into()
    }
}

/// The image as a file whose base64 has at most `most` bytes: without loss if it was so and that
/// fits, else as a JPEG as good as fits.
fn encode(
    image: &DynamicImage,
    from: ImageFormat,
    most: usize,
) -> Result<Option<(Vec<u8>, ImageFormat)>, ImageError> {
    if from != ImageFormat::Jpeg {
        let mut png = Cursor::new(Vec::new());
        image.write_to(&mut png, ImageFormat::Png)?;
        let png = png.into_inner();
        if base64_length(png.len()) <= most {
            return Ok(Some((png, ImageFormat::Png)));
        }
    }
    let opaque = image.color().has_alpha().then(|| on_white(image));
    let image = opaque.as_ref().unwrap_or(image);
    for quality in QUALITIES {
        let mut jpeg = Vec::new();
        image.write_with_encoder(JpegEncoder::new_with_quality(&mut jpeg, quality))?;
        if base64_length(jpeg.len()) <= most {
            return Ok(Some((jpeg, ImageFormat::Jpeg)));
        }
    }
    Ok(None)
}

fn on_white(image: &DynamicImage) -> DynamicImage {
    let mut page = RgbaImage::from_pixel(image.width(), image.height(), Rgba([255; 4]));
    imageops::overlay(&mut page, &image.to_rgba8(), 0, 0);
    DynamicImage::from(page).into_rgb8().into()
}

fn base64_length(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4
}

/// With its article.
fn name(format: ImageFormat) -> &'static str {
    match format {
        ImageFormat::Png => "a PNG",
        ImageFormat::Jpeg => "a JPEG",
        ImageFormat::Gif => "a GIF",
        ImageFormat::WebP => "a WebP",
        ImageFormat::Bmp => "a BMP",
        _ => "an",
    }
}

#[cfg(test)]
#[path = "image_tests.rs"]
mod tests;
