//! Fast against naive, and every promise of the updater.

mod member_growth;
mod metric;
mod updater;
