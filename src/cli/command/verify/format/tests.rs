use super::*;

#[test]
fn text_is_escaped_for_its_format() {
    assert_eq!(data("50%\r\na:b,c"), "50%25%0D%0Aa:b,c");
    assert_eq!(property("50%\na:b,c"), "50%25%0Aa%3Ab%2Cc");
    assert_eq!(
        xml("<a b=\"&\">\u{1}\t\u{FFFE}é"),
        "&lt;a b=&quot;&amp;&quot;&gt;\u{FFFD}&#9;\u{FFFD}é"
    );
}
