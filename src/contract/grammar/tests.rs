use super::*;
use serde_json::json;

fn embedded() -> serde_json::Value {
    serde_json::from_str(GRAMMAR).unwrap()
}

#[test]
fn the_embedded_grammar_is_that_of_all_wires() {
    let grammar = Grammar::embedded();
    for wire in Wire::ALL {
        let grammar = grammar.wire(wire).unwrap();
        for kind in wire.types() {
            assert!(grammar.event(kind).is_some(), "{}: {kind}", wire.name());
        }
    }
}

#[test]
fn what_cannot_be_followed_does_not_compile() {
    let fails = |edit: &dyn Fn(&mut serde_json::Value), what: &str| {
        let mut grammar = embedded();
        edit(&mut grammar);
        let error = Grammar::compile(&grammar).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    };
    let native = "/wires/quipu";
    fails(
        &|g| g.pointer_mut(native).unwrap()["rules"][0]["name"] = "luck".into(),
        "the grammar of the quipu wire: there is no rule `luck`",
    );
    fails(
        &|g| g.pointer_mut(native).unwrap()["rules"][0]["events"] = json!(["nope"]),
        "there is no event `nope`",
    );
    fails(
        &|g| g.pointer_mut(native).unwrap()["initial"] = "nowhere".into(),
        "there is no state `nowhere`",
    );
    fails(
        &|g| g.pointer_mut(native).unwrap()["pairs"][0]["surprise"] = true.into(),
        "surprise",
    );
    fails(
        &|g| g["wires"]["other"] = g["wires"]["quipu"].clone(),
        "there is no wire `other`",
    );
}
