use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use image::{
    DynamicImage, GenericImageView as _, GrayImage, ImageFormat, Rgb, RgbImage, Rgba, RgbaImage,
};
use pretty_assertions::assert_eq;
use serde_json::json;
use std::io::Cursor;
use std::sync::Arc;

use super::{ENCODED, base64_length, sniff};
use crate::event::InputContent;
use crate::tool::ToolEnv;
use crate::tool::testing::Bench;

fn encoded(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn plain(width: u32, height: u32) -> DynamicImage {
    RgbImage::from_pixel(width, height, Rgb([200, 30, 30])).into()
}

/// Pixels that no format can make small.
fn noise(width: u32, height: u32) -> DynamicImage {
    let mut state = 1_u32;
    let mut image = RgbImage::new(width, height);
    for byte in image.iter_mut() {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        *byte = state.to_le_bytes()[1];
    }
    image.into()
}

/// The text, type and bytes of an image that was read.
async fn shown(bench: &Bench, name: &str) -> (String, String, Vec<u8>) {
    let output = bench.call("read", json!({"path": name})).await;
    assert!(!output.is_error, "{output:?}");
    assert_eq!(output.result.details, None);
    match output.result.content.as_slice() {
        [InputContent::Text(text), InputContent::Image(image)] => (
            text.text.clone(),
            image.mime_type.clone(),
            BASE64_STANDARD.decode(&image.data).unwrap(),
        ),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn small_images_come_as_they_are_whatever_their_name() {
    let bench = Bench::new();
    let image = plain(40, 30);
    for (format, mime) in [
        (ImageFormat::Png, "image/png"),
        (ImageFormat::Jpeg, "image/jpeg"),
        (ImageFormat::Gif, "image/gif"),
        (ImageFormat::WebP, "image/webp"),
    ] {
        let bytes = encoded(&image, format);
        bench.put("picture.txt", &bytes);
        let expected = (format!("Read image file [{mime}]"), mime.to_owned(), bytes);
        assert_eq!(shown(&bench, "picture.txt").await, expected);
    }
}

#[tokio::test]
async fn a_bitmap_becomes_a_png() {
    let bench = Bench::new();
    bench.put("a.bmp", encoded(&plain(40, 30), ImageFormat::Bmp));
    let (text, mime, bytes) = shown(&bench, "a.bmp").await;
    assert_eq!(
        text,
        "Read image file [image/png]\n\n[Converted from a BMP]"
    );
    assert_eq!(mime, "image/png");
    let png = image::load_from_memory_with_format(&bytes, ImageFormat::Png).unwrap();
    assert_eq!(png.to_rgb8(), plain(40, 30).to_rgb8());
}

#[tokio::test]
async fn large_images_are_scaled() {
    let mut bench = Bench::new();
    bench.put("wide.png", encoded(&plain(4000, 50), ImageFormat::Png));
    let (text, mime, bytes) = shown(&bench, "wide.png").await;
    assert_eq!(
        text,
        "Read image file [image/png]\n\n[Scaled from 4000x50 to 2000x25: multiply coordinates by \
         2.00 to get those in the file]"
    );
    assert_eq!(mime, "image/png");
    let small = image::load_from_memory(&bytes).unwrap();
    assert_eq!(small.dimensions(), (2000, 25));
    assert_eq!(small.get_pixel(1000, 12), Rgba([200, 30, 30, 255]));

    bench.put("thin.gif", encoded(&plain(1, 2500), ImageFormat::Gif));
    let (text, mime, bytes) = shown(&bench, "thin.gif").await;
    assert!(
        text.ends_with("If it moves, this is its first frame. Converted from a GIF]"),
        "{text}"
    );
    assert_eq!(mime, "image/png");
    assert_eq!(
        image::load_from_memory(&bytes).unwrap().dimensions(),
        (1, 2000)
    );

    let env = ToolEnv {
        resize_images: false,
        ..ToolEnv::default()
    };
    bench.ctx.env = Arc::new(env);
    let (text, _, bytes) = shown(&bench, "wide.png").await;
    assert_eq!(text, "Read image file [image/png]");
    assert_eq!(bytes, encoded(&plain(4000, 50), ImageFormat::Png));
}

#[tokio::test]
async fn heavy_images_are_made_lighter() {
    let bench = Bench::new();
    let heavy = encoded(&noise(1200, 1000), ImageFormat::Png);
    assert!(base64_length(heavy.len()) > ENCODED);
    bench.put("heavy.png", &heavy);
    let (text, mime, bytes) = shown(&bench, "heavy.png").await;
    assert_eq!(
        text,
        "Read image file [image/jpeg]\n\n[Converted from a PNG]"
    );
    assert_eq!(mime, "image/jpeg");
    assert!(base64_length(bytes.len()) <= ENCODED);
    let jpeg = image::load_from_memory_with_format(&bytes, ImageFormat::Jpeg).unwrap();
    assert_eq!(jpeg.dimensions(), (1200, 1000));
}

#[test]
fn what_does_not_fit_gets_smaller_and_transparency_white() {
    let mut image = RgbaImage::new(64, 64);
    image.put_pixel(0, 0, Rgba([1, 2, 3, 255]));
    let mut state = 7_u32;
    for pixel in image.pixels_mut() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        pixel.0[..3].copy_from_slice(&state.to_be_bytes()[..3]);
    }
    let (bytes, format) = super::encode(&image.into(), ImageFormat::Png, 4000)
        .unwrap()
        .unwrap();
    assert_eq!(format, ImageFormat::Jpeg);
    let page = image::load_from_memory(&bytes).unwrap();
    assert_eq!(page.get_pixel(32, 32), Rgba([255; 4]));
    assert!(
        super::encode(&noise(64, 64), ImageFormat::Png, 100)
            .unwrap()
            .is_none()
    );
}

#[tokio::test]
async fn a_turned_photo_is_turned_when_it_is_scaled() {
    let bench = Bench::new();
    let jpeg = encoded(&plain(3000, 20), ImageFormat::Jpeg);
    // An EXIF block with one entry: orientation 6, a quarter turn.
    let exif = b"Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
    let turned = [&jpeg[..2], b"\xff\xe1", &length, exif, &jpeg[2..]].concat();
    bench.put("photo.jpg", turned);
    let (text, mime, bytes) = shown(&bench, "photo.jpg").await;
    assert!(
        text.contains("Scaled from 20x3000 to 13x2000: multiply coordinates by 1.50"),
        "{text}"
    );
    assert_eq!(mime, "image/jpeg");
    assert_eq!(
        image::load_from_memory(&bytes).unwrap().dimensions(),
        (13, 2000)
    );
}

/// A PNG whose header promises more than there is.
fn boast(width: u32, height: u32) -> Vec<u8> {
    let mut png = encoded(&GrayImage::new(1, 1).into(), ImageFormat::Png);
    png[16..20].copy_from_slice(&width.to_be_bytes());
    png[20..24].copy_from_slice(&height.to_be_bytes());
    let mut crc = u32::MAX;
    for byte in &png[12..29] {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & 0_u32.wrapping_sub(crc & 1));
        }
    }
    png[29..33].copy_from_slice(&(!crc).to_be_bytes());
    png
}

#[tokio::test]
async fn huge_images_are_refused_by_their_header() {
    let bench = Bench::new();
    bench.put("huge.png", boast(10_000, 10_000));
    assert_eq!(
        bench.error("read", json!({"path": "huge.png"})).await,
        "huge.png is too large to be shown (10000x10000 pixels; at most 50 megapixels); make a \
         smaller copy with bash, for example with ImageMagick"
    );
    bench.put("absurd.png", boast(u32::MAX >> 1, u32::MAX >> 1));
    bench.error("read", json!({"path": "absurd.png"})).await;
    bench.put("liar.png", boast(1000, 1000));
    let text = bench.error("read", json!({"path": "liar.png"})).await;
    assert!(
        text.starts_with("liar.png starts like a PNG image but cannot be decoded: "),
        "{text}"
    );

    let long = std::fs::File::create(bench.path().join("long.png")).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&long, &boast(10, 10), 0).unwrap();
    long.set_len(1 << 30).unwrap();
    let text = bench.error("read", json!({"path": "long.png"})).await;
    assert!(text.contains("(over 64.0MB; at most 64.0MB)"), "{text}");
}

#[tokio::test]
async fn what_only_looks_like_an_image_is_told_apart() {
    let bench = Bench::new();
    for (name, text) in [
        ("a.png", "no image\n"),
        ("b.gif", "GIF89a is a format.\n"),
        ("c.txt", "BMW is a brand, and here is more text about it.\n"),
        ("d.webp", "RIFFxxxxWEBP is how such a file begins\n"),
    ] {
        bench.put(name, text);
        let got = bench.ok("read", json!({"path": name})).await;
        assert_eq!(got, (text.to_owned(), None));
    }
    let png = encoded(&plain(300, 300), ImageFormat::Png);
    for (name, bytes, kind) in [
        ("cut.png", &png[..png.len() / 2], "a PNG"),
        ("bare.png", &png[..8], "a PNG"),
        ("bad.jpg", &b"\xff\xd8\xff\xe0 is not enough"[..], "a JPEG"),
        ("bad.gif", b"GIF89a\0\0\0\0", "a GIF"),
        ("bad.webp", b"RIFF\x10\0\0\0WEBPVP8 nothing", "a WebP"),
    ] {
        bench.put(name, bytes);
        let text = bench.error("read", json!({"path": name})).await;
        let part = format!("{name} starts like {kind} image but cannot be decoded: ");
        assert!(text.starts_with(&part), "{text}");
    }
    assert_eq!(sniff(b""), None);
}
