"""The stages of a sweep: each takes the frozen result of the one before, so that they can only run in order.

    find → identify → read → merge → judge → commit → publish → report

Nothing that readers see changes before `publish`, and nothing that the next sweep builds on before the last line of
`commit`. Each stage may be run again: what it writes has new names every time.
"""
