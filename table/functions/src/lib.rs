//! Built-in functions: signatures, kernels and the compiled expression evaluator.
