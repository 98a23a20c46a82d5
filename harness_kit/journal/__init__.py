"""Journal entries and where their amounts went: cash, a known exception, no cash, or a person's desk.

Pure accounting over frozen records and integer money; nothing here knows of agents, runs or models.

    table = reading.read("journal.csv")              # text, as it stands in the file
    rows = parsing.parse_rows(table)                 # typed, or refused with cell and remedy
    findings = context.examine(table, rows, config)  # what blocks, what warns
    result = ledger.classify(rows, config)           # tracer, then exception rules
    report = gate.check(table, config, result)       # recomputed from the text

Modules, each importing only from those before it: rows, money, fields, columns, quiet, tables, sheets,
reading, parsing, config, context, timeline, settlement, cash_path_tracer, extinction_exception_rules,
skills, ledger, gate, digests, generator.
"""
