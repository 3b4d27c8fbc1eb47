"""A layered drawing of an acyclic graph: longest-path layers, few crossings, edges as paths between the boxes.

Layers run from left to right, what a node rests on stands to its left. An edge over several layers passes through a
dummy node in each, so that it runs between boxes. Orders within the layers come from barycentre sweeps followed by
swaps of neighbours, from several shuffled starts; of all orders met the one with the fewest crossings is kept. Heights
minimise, layer by layer, the squared distance from the neighbours' mean under the least separation, which is an
isotonic regression.
"""

from __future__ import annotations

import random
from bisect import bisect_right, insort
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

SWEEPS = 12
STARTS = 16
WORK = 20_000  # edges between neighbouring layers, times starts: a very large graph gets fewer
RELAXATIONS = 12

Node = Hashable
Order = list[list[Node]]


@dataclass(frozen=True)
class Dummy:
    """Where an edge passes through a layer."""

    source: str
    target: str
    layer: int


@dataclass(frozen=True)
class Drawing:
    """Places of the centres of all nodes in units of one layer and one row, and the path of every edge."""

    places: Mapping[str, tuple[float, float]]
    paths: Mapping[tuple[str, str], tuple[tuple[float, float], ...]]
    width: float
    height: float
    crossings: int


def layered(uses: Mapping[str, Iterable[str]]) -> Mapping[str, int]:
    """The layer of every node: one more than the longest path to it; a source stands right before its first user.

    **Raises:** ValueError if the graph has a cycle.
    """
    parents = {node: [name for name in dict.fromkeys(found) if name in uses] for node, found in uses.items()}
    layer: dict[str, int] = {}
    waiting = dict(parents)
    while waiting:
        ready = [node for node, found in waiting.items() if all(name in layer for name in found)]
        if not ready:
            raise ValueError(f"The theorems {', '.join(sorted(waiting)[:5])} rest on each other in a circle.")
        for node in ready:
            layer[node] = 1 + max((layer[name] for name in parents[node]), default=-1)
            del waiting[node]
    users: dict[str, list[str]] = {node: [] for node in parents}
    for node, found in parents.items():
        for name in found:
            users[name].append(node)
    for node, found in parents.items():
        if not found and users[node]:
            layer[node] = min(layer[user] for user in users[node]) - 1
    return layer


def crossings(order: Sequence[Sequence[Node]], edges: Iterable[tuple[Node, Node]]) -> int:
    """How many pairs of edges between neighbouring layers cross: inversions of their ends."""
    place = {node: (depth, index) for depth, layer in enumerate(order) for index, node in enumerate(layer)}
    between: dict[int, list[tuple[int, int]]] = {}
    for source, target in edges:
        depth, index = place[source]
        between.setdefault(depth, []).append((index, place[target][1]))
    count = 0
    for ends in between.values():
        seen: list[int] = []
        for _, target in sorted(ends):
            count += len(seen) - bisect_right(seen, target)
            insort(seen, target)
    return count


def draw(uses: Mapping[str, Sequence[str]]) -> Drawing:
    """The drawing of one graph; edges from nodes that are not in it are left out.

    **Raises:** ValueError if the graph has a cycle.
    """
    if not uses:
        return Drawing({}, {}, 0.0, 0.0, 0)
    layer = layered(uses)
    chains, order = _properly(uses, layer)
    short = [pair for chain in chains.values() for pair in pairwise(chain)]
    order = _ordered(order, short)
    rows = _heights(order, short)
    low = min(rows.values())
    places: dict[Node, tuple[float, float]] = {
        node: (float(depth), rows[node] - low) for depth, nodes in enumerate(order) for node in nodes
    }
    return Drawing(
        {name: places[name] for name in uses},
        {ends: tuple(places[node] for node in chain) for ends, chain in chains.items()},
        float(len(order)),
        max(y for _, y in places.values()) + 1.0,
        crossings(order, short),
    )


def _properly(
    uses: Mapping[str, Sequence[str]], layer: Mapping[str, int]
) -> tuple[dict[tuple[str, str], list[Node]], Order]:
    """Every edge as a chain over neighbouring layers, and the layers in the order of a walk from the first sources."""
    chains: dict[tuple[str, str], list[Node]] = {}
    after: dict[Node, list[Node]] = {node: [] for node in uses}
    for target in uses:
        for source in dict.fromkeys(uses[target]):
            if source not in uses:
                continue
            between: list[Node] = [Dummy(source, target, at) for at in range(layer[source] + 1, layer[target])]
            chain: list[Node] = [source, *between, target]
            chains[source, target] = chain
            for first, second in pairwise(chain):
                after.setdefault(first, []).append(second)
    depth: dict[Node, int] = dict(layer.items())
    depth.update({node: node.layer for chain in chains.values() for node in chain if isinstance(node, Dummy)})
    order: Order = [[] for _ in range(max(depth.values()) + 1)]
    seen: set[Node] = set()
    for start in uses:
        if uses[start] and any(name in uses for name in uses[start]):
            continue
        waiting: list[Node] = [start]
        while waiting:
            node = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            order[depth[node]].append(node)
            waiting += reversed(after.get(node, []))
    return chains, order


def _ordered(order: Order, edges: Sequence[tuple[Node, Node]]) -> Order:
    left: dict[Node, list[Node]] = {}
    right: dict[Node, list[Node]] = {}
    for source, target in edges:
        right.setdefault(source, []).append(target)
        left.setdefault(target, []).append(source)
    best, fewest = order, crossings(order, edges)
    generator = random.Random(0)  # the same graph is drawn the same way
    for start in range(max(1, min(STARTS, WORK // max(1, len(edges))))):
        if fewest == 0:
            break
        current = [list(layer) for layer in order]
        if start:
            for layer in current:
                generator.shuffle(layer)
        for sweep in range(SWEEPS):
            forward = sweep % 2 == 0
            steps = range(1, len(current)) if forward else range(len(current) - 2, -1, -1)
            for depth in steps:
                beside = current[depth - 1 if forward else depth + 1]
                current[depth] = _by_barycentre(current[depth], beside, left if forward else right)
            current = _swapped(current, left, right)
            count = crossings(current, edges)
            if count < fewest:
                best, fewest = [list(layer) for layer in current], count
    return best


def _by_barycentre(layer: Sequence[Node], beside: Sequence[Node], neighbours: Mapping[Node, list[Node]]) -> list[Node]:
    place = {node: index for index, node in enumerate(beside)}
    kept = {node: index for index, node in enumerate(layer)}

    def centre(node: Node) -> float:
        found = [place[name] for name in neighbours.get(node, ())]
        # A node without neighbours keeps its place, as a share of the layer beside.
        return sum(found) / len(found) if found else kept[node] * len(beside) / max(1, len(layer))

    return sorted(layer, key=lambda node: (centre(node), kept[node]))


def _swapped(order: Order, left: Mapping[Node, list[Node]], right: Mapping[Node, list[Node]]) -> Order:
    """Neighbours exchanged wherever that removes crossings, until none does."""
    for depth, layer in enumerate(order):
        sides: list[dict[Node, list[int]]] = []
        for beside, neighbours in ((depth - 1, left), (depth + 1, right)):
            if 0 <= beside < len(order):
                place = {node: index for index, node in enumerate(order[beside])}
                sides.append({node: sorted(place[name] for name in neighbours.get(node, ())) for node in layer})
        improved = True
        while improved:
            improved = False
            for index in range(len(layer) - 1):
                first, second = layer[index], layer[index + 1]
                gain = sum(_pairs(side[first], side[second]) - _pairs(side[second], side[first]) for side in sides)
                if gain > 0:
                    layer[index], layer[index + 1] = second, first
                    improved = True
    return order


def _pairs(above: Sequence[int], below: Sequence[int]) -> int:
    """The crossings of the edges of two nodes, the first above the second."""
    return sum(1 for a in above for b in below if b < a)


def _heights(order: Order, edges: Sequence[tuple[Node, Node]]) -> dict[Node, float]:
    neighbours: dict[Node, list[Node]] = {}
    for source, target in edges:
        neighbours.setdefault(source, []).append(target)
        neighbours.setdefault(target, []).append(source)
    rows: dict[Node, float] = {node: float(index) for layer in order for index, node in enumerate(layer)}
    for step in range(RELAXATIONS):
        layers = order if step % 2 == 0 else order[::-1]
        for layer in layers:
            wanted = [
                sum(rows[name] for name in neighbours[node]) / len(neighbours[node])
                if node in neighbours
                else rows[node]
                for node in layer
            ]
            rows.update(zip(layer, _apart(layer, wanted), strict=True))
    return rows


def _apart(layer: Sequence[Node], wanted: Sequence[float]) -> list[float]:
    """The nearest heights, in squares, at which neighbours keep their distance: two boxes a row, a passing edge half."""
    offsets = [0.0]
    for first, second in pairwise(layer):
        offsets.append(offsets[-1] + (0.5 if isinstance(first, Dummy) or isinstance(second, Dummy) else 1.0))
    # Heights less the offsets may not fall: pool neighbours that do (isotonic regression).
    pools: list[tuple[float, int]] = []
    for value, offset in zip(wanted, offsets, strict=True):
        total, size = value - offset, 1
        while pools and pools[-1][0] / pools[-1][1] > total / size:
            before, count = pools.pop()
            total, size = total + before, size + count
        pools.append((total, size))
    levels = [total / size for total, size in pools for _ in range(size)]
    return [level + offset for level, offset in zip(levels, offsets, strict=True)]
