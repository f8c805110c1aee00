//! Built-in connectors: filesystem, datagen, values, print, blackhole.
