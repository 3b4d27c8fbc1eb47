"""Dependencies between theorems: order of checks, cycles, ancestors, and the theorems that a failed one blocks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from theorax.decide.status import Status
from theorax.errors import StatementError
from theorax.theorems.catalogue import Catalogue

if TYPE_CHECKING:
    import networkx


@dataclass(frozen=True)
class Graph:
    """Every theorem with the theorems it uses; ancestors that do not exist are left out (the catalogue names them)."""

    uses: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, catalogue: Catalogue, above: Iterable[str] | None = None) -> Graph:
        """The graph of a catalogue; unreadable files are nodes without ancestors.

        ``above``: of these theorems and all that they rest on alone, so that no other file is read.
        """
        known = frozenset(catalogue.ids)
        uses: dict[str, tuple[str, ...]] = {}
        waiting = list(catalogue.ids if above is None else above)[::-1]
        while waiting:
            id = waiting.pop()
            if id not in uses:
                uses[id] = tuple(name for name in catalogue.facts(id).uses if name in known)
                waiting.extend(uses[id])
        return cls(uses)

    @property
    def used_by(self) -> Mapping[str, tuple[str, ...]]:
        """Every theorem with the theorems that use it."""
        found: dict[str, list[str]] = {id: [] for id in self.uses}
        for id, ancestors in self.uses.items():
            for ancestor in ancestors:
                found[ancestor].append(id)
        return {id: tuple(names) for id, names in found.items()}

    def ancestors(self, ids: Iterable[str]) -> frozenset[str]:
        """Everything that ``ids`` rest on, themselves not included unless one rests on another."""
        return _reached(self.uses, ids)

    def descendants(self, ids: Iterable[str]) -> frozenset[str]:
        """Everything that rests on ``ids``."""
        return _reached(self.used_by, ids)

    def directed(self) -> networkx.DiGraph:
        """The graph with an edge from each theorem to those that use it."""
        import networkx

        graph: Any = networkx.DiGraph()
        graph.add_nodes_from(self.uses)
        graph.add_edges_from((ancestor, id) for id, names in self.uses.items() for ancestor in names)
        return graph

    def cycles(self) -> Mapping[str, str]:
        """Every theorem that rests on itself, with the sentence that names its cycle."""
        try:
            TopologicalSorter(self.uses).prepare()
            return {}
        except CycleError:
            import networkx  # which costs more than all the rest, so that only a circle is looked for with it

        graph = self.directed()
        found: dict[str, str] = {}
        for component in networkx.strongly_connected_components(graph):
            start = min(component)
            if len(component) == 1 and not graph.has_edge(start, start):
                continue
            part = graph.subgraph(component).reverse()
            steps = [edge[0] for edge in networkx.find_cycle(part, start)]
            sentence = (
                f"`uses` runs in a circle: {' -> '.join([*steps, steps[0]])}. A theorem cannot rest on itself; "
                f"take one of these out of the other's `uses`."
            )
            found |= dict.fromkeys(component, sentence)
        return found

    def order(self, ids: Iterable[str]) -> tuple[str, ...]:
        """``ids`` such that everything a theorem rests on comes before it; alphabetical where that leaves a choice.

        **Raises:** StatementError if ``uses`` runs in a circle within what ``ids`` rest on; the message names it.
        """
        chosen = frozenset(ids)
        circles = self.cycles()
        needed = chosen | self.ancestors(chosen)
        for id in sorted(needed):
            if id in circles:
                raise StatementError(circles[id])
        open_ = TopologicalSorter({id: self.uses.get(id, ()) for id in needed})
        open_.prepare()
        ready, order = sorted(open_.get_ready()), []
        while ready:
            order.append(heappop(ready))
            open_.done(order[-1])
            for id in open_.get_ready():
                heappush(ready, id)
        return tuple(id for id in order if id in chosen)

    def critical_paths(self, order: Sequence[str], seconds: Mapping[str, float]) -> dict[str, float]:
        """Seconds of the critical path from each theorem of an order: its own, and the longest chain of what rests on it.

        Started longest first, the theorems keep all cores busy to the end.
        """
        after, found = dict.fromkeys(order, 0.0), dict[str, float]()
        for id in reversed(order):
            found[id] = seconds[id] + after[id]
            for name in (self.ancestors([id]) - {id}) & after.keys():
                after[name] = max(after[name], found[id])
        return found

    def blockers(self, id: str, statuses: Mapping[str, Status]) -> tuple[str, ...]:
        """The ancestors of ``id`` that failed, where ``statuses`` knows them.

        Failed is anything but PROVED, CERTIFIED and SUPPORTED. Where an ancestor is itself blocked, the ones that
        block it are named instead.
        """
        failed = {name for name in self.ancestors([id]) if name in statuses and not statuses[name].holds}
        roots = {name for name in failed if statuses[name] is not Status.BLOCKED}
        return tuple(sorted(roots or failed))


def _reached(edges: Mapping[str, tuple[str, ...]], start: Iterable[str]) -> frozenset[str]:
    seen: set[str] = set()
    waiting = [name for id in start for name in edges.get(id, ())]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting.extend(edges.get(name, ()))
    return frozenset(seen)
