"""Whether transactions could have happened one after another, or each on a snapshot; and if not, why.

versions      for each key the order of its versions, as far as reads show it; anomalies of single reads
registers     values that are written, whose order is searched for
dependencies  who wrote before whom, who read from whom, who read before whom wrote
cycles        a shortest cycle of dependencies, and its name
isolation     serializable, strict serializable, snapshot isolation
"""
