//! `docs/events.md`: every event for people, made from the schema.
