//! DataStream runtime of Aquifer: epochs, watermarks, keyed state, checkpoints and jobs on timely dataflow.
