module tracetoolkit

go 1.18
