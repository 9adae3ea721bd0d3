"""Other people's modules that programs import: namespaces of the same names, as far as programs use them."""
