//! Built-in connectors: where tables are read from and written to.
//!
//! [`connectors`] is the list; [`registry`] is what an environment starts with, formats included.
//! Options and behaviour are those of Flink's connectors of the same names; what differs is said in
//! each connector's module.

mod blackhole;
mod datagen;
mod filesystem;
mod position;
mod print;
mod reference;
pub mod values;

use std::sync::Arc;

use aquifer_table_common::connector::{DynamicTableFactory, FactoryRegistry};

pub use blackhole::BlackholeFactory;
pub use datagen::DatagenFactory;
pub use filesystem::FilesystemFactory;
pub use print::PrintFactory;
pub use reference::reference_page;
pub use values::ValuesFactory;

/// All connectors of this package, sorted by identifier.
pub fn connectors() -> Vec<Arc<dyn DynamicTableFactory>> {
    vec![
        Arc::new(BlackholeFactory),
        Arc::new(DatagenFactory),
        Arc::new(FilesystemFactory),
        Arc::new(PrintFactory),
        Arc::new(ValuesFactory),
    ]
}

/// Adds all connectors of this package to `registry`.
pub fn register_connectors(registry: &mut FactoryRegistry) {
    for connector in connectors() {
        registry.register_connector(connector);
    }
}

/// A registry of all built-in connectors and formats.
pub fn registry() -> FactoryRegistry {
    let mut registry = FactoryRegistry::new();
    aquifer_formats::register_formats(&mut registry);
    register_connectors(&mut registry);
    registry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connectors_and_options_are_sorted() {
        let names: Vec<&str> = connectors().iter().map(|c| c.identifier()).collect();
        assert!(names.is_sorted(), "{names:?}");
        for connector in connectors() {
            for options in [connector.required_options(), connector.optional_options()] {
                let keys: Vec<&str> = options.iter().map(|o| o.key()).collect();
                assert!(keys.is_sorted(), "{keys:?}");
            }
        }
    }
}
