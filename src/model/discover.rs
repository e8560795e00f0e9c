//! Which models a server on this machine offers.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::http::{self, client};
use super::{Model, ModelError, Secret, parse_json};

/// A local server answers at once or is not there.
const PATIENCE: Duration = Duration::from_secs(2);
/// The longest list that is read, in bytes.
const LIMIT: usize = 4 << 20;

/// The list as most servers give it: `GET /v1/models` with `{"data": [{"id": …}]}`.
#[derive(Deserialize)]
struct Listing {
    data: Vec<Value>,
}

impl Listing {
    /// The ids. An entry that has none cannot be asked for.
    fn ids(self) -> Vec<String> {
        let entries = self.data.into_iter();
        let ids = entries.filter_map(|mut entry| match entry.get_mut("id").map(Value::take) {
            Some(Value::String(id)) if !id.trim().is_empty() => Some(id),
            _ => None,
        });
        ids.collect()
    }
}

/// Asks the server of `model`, which must be on this machine, for the ids of its models.
///
/// # Errors
/// When the server is not there, wants another key, or its list cannot be read.
pub async fn discover(model: &Model, key: Option<&Secret>) -> Result<Vec<String>, ModelError> {
    let mut url = http::base_url(&model.base_url)?;
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&if path.ends_with("/v1") {
        format!("{path}/models")
    } else {
        format!("{path}/v1/models")
    });
    let place = url.clone();
    let client = tokio::task::spawn_blocking(move || client(&place))
        .await
        .map_err(|error| ModelError::network(error.to_string()))??;
    let mut request = client.get(url).timeout(PATIENCE);
    for (name, value) in &model.headers {
        request = request.header(name, value);
    }
    if let Some(key) = key {
        request = request
            .bearer_auth(key.expose())
            .header("x-api-key", key.expose());
    }
    let mut response = request
        .send()
        .await
        .map_err(|_| ModelError::network("no server answers there"))?;
    if !response.status().is_success() {
        return Err(ModelError::network(format!(
            "the server answered {}",
            response.status()
        )));
    }
    let mut body = Vec::new();
    while let Some(piece) = response
        .chunk()
        .await
        .map_err(|_| ModelError::network("the list was cut"))?
    {
        body.extend_from_slice(&piece);
        if body.len() > LIMIT {
            return Err(ModelError::provider("the list is too long"));
        }
    }
    let listing: Listing = parse_json(&String::from_utf8_lossy(&body))
        .map_err(|_| ModelError::provider("the answer is no list of models"))?;
    Ok(listing.ids())
}
