use quipu::codegen;
use std::path::Path;
#[path="../../src/codegen/rust/input.rs"]
mod input;
#[test]
fn probe() {
    let s = codegen::read(Path::new("schema")).unwrap();
    let i = input::input(&s);
    let mut settings = typify::TypeSpaceSettings::default();
    settings.with_derive("PartialEq".into());
    for (n, r) in &i.replaced { settings.with_replacement(n, r, std::iter::empty()); }
    let mut space = typify::TypeSpace::new(&settings);
    let root: schemars08::schema::RootSchema = serde_json::from_value(i.document).unwrap();
    space.add_root_schema(root).unwrap();
    let f: syn::File = syn::parse2(space.to_stream()).unwrap();
    std::fs::write("/tmp/typify.rs", prettyplease::unparse(&f)).unwrap();
}
