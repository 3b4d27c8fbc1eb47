"""Formulas for browsers: what is understood, what falls back to text, and that nothing else comes through."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from theorax.text.mathml import ATTRIBUTES, ELEMENTS, formula, mathml

UNDERSTOOD = [
    r"\mathbb{E}\left[\frac{T}{\frac{tail}{top^{4}} + 1}\right] \to \infty",
    r"\operatorname{erf}{\left(x \right)} \le \sqrt[3]{\sigma_{A}}",
    r"\begin{cases} 1 & \text{for}\: x > 0 \\ 0 & \text{otherwise} \end{cases}",
    r"\left[\begin{matrix}a & b\\c & d\end{matrix}\right]",
    r"\sum_{i=1}^{n} x_i \neq \int\limits_{0}^{1} x\, dx",
    r"\tilde{\Theta}\left(\frac{1}{T}\right)",
    r"P\left(s \geq 0\right) \geq 1 - \delta",
]


@pytest.mark.parametrize("latex", UNDERSTOOD)
def test_formulas_of_sympy_become_known_elements(latex):
    root = ElementTree.fromstring(mathml(latex))
    assert root.tag == "math"
    for node in root.iter():
        assert node.tag in ELEMENTS
        assert set(node.attrib) <= ATTRIBUTES.get(node.tag, set())
    assert "\\" not in "".join(root.itertext())


REFUSED = ["", "  ", r"\left(a", r"\frac{1}", r"\unknown{x}", r"\begin{matrix} a", "a\x1bb", "a\ue000b"]


@pytest.mark.parametrize("latex", [*REFUSED, "{" * 3000, "x" * 5000], ids=ascii)
def test_what_is_not_understood_is_shown_as_its_text(latex):
    assert mathml(latex) is None
    assert formula(latex, "s <- 1") == '<code class="formula">s &lt;- 1</code>'


def test_a_fallback_of_several_lines_keeps_them():
    assert formula("", "a\nb") == '<pre class="formula">a\nb</pre>'


def test_names_of_several_letters_are_one_identifier_set_apart():
    assert mathml("tail x") == '<math><mi>tail</mi><mspace width="0.2em"/><mi>x</mi></math>'
    assert mathml("small_{top}") == "<math><msub><mi>small</mi><mi>top</mi></msub></math>"


@pytest.mark.parametrize(
    "latex", [r"\href{javascript:alert(1)}{x}", r"\style{color:red}{x}", r"\color{red}{x}", "<img src=x>"]
)
def test_no_address_and_no_style_comes_through(latex):
    found = formula(latex, latex)
    assert "javascript" not in found and "style=" not in found and "red" not in found and "<img" not in found
