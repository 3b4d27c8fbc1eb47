"""Words of a report, each explained with an example; `verify explain WORD` and the pages read this one table."""

from __future__ import annotations

from collections.abc import Mapping

GLOSSARY: Mapping[str, str] = {
    "margin": (
        "The smallest error of a claim that matters to its author, with a reason. A claim is supported if the data exclude "
        "an error of the margin or more. Example: with margin 0.1, support of the limit 2 excludes 1.9 and 2.1."
    ),
    "corrections": (
        "Differences between the value at a finite size and the limit. An author declares how they fall, since no finite "
        "set of sizes shows it. Example: c/T with any c, and a second part of at most 0.3 (32/T)²."
    ),
    "breakdown": (
        "The factor by which the corrections may exceed those assumed before support is lost. Example: breakdown 1.5 "
        "means that support stands until the corrections are 1.5 times those assumed."
    ),
    "headroom": (
        "The factor between an exact claim's margin and the largest difference that was found, rounding included. "
        "Example: headroom 1000 means that differences a thousand times as large would still pass."
    ),
    "robust": (
        "A verdict is robust if it stays the same after a new plan with larger corrections than those assumed. Example: "
        "a limit that is also supported with corrections twice as large."
    ),
    "fragile": (
        "A supported claim is fragile if larger corrections than those assumed leave it undecided. It may be true; its "
        "support rests on the assumption. Example: `FRAGILE × 1.3` is lost with corrections 1.3 times as large."
    ),
    "risk": (
        "The error rate of the procedure: how often it gives a wrong word if its assumptions hold. It is no probability "
        "that this claim is true. Example: risk 1.5 % means at most 15 wrong words in 1000 such checks."
    ),
    "adjusted": (
        "A p-value is adjusted where one run checks many claims, because many chances to err add up. No word changes by it. "
        "Example: by Holm's method, all 57 green words of a run hold jointly at 2.5 %."
    ),
    "together": (
        "The statement about all claims of a run: which green words hold jointly at 2.5 %, which refutations hold over the "
        "run at 1 %. It changes no word. Example: a claim REFUTED on its own, not over the run, ends with exit code 4."
    ),
    "searched": (
        "A claim for all draws was attacked by a search for a witness, which found none. The search can refute and nothing "
        "else. Example: `0.97 of the bound reached` is nearer than `never above 0.33 of the bound`."
    ),
    "witness": (
        "A draw that the law can make, found by a search, at which a claim for all draws fails, as do draws nearby. "
        "Example: two vectors whose softmax values are 1.7 times as far apart as a claimed constant allows."
    ),
    "score": (
        "The noise of a draw as quantiles of a normal law between -6 and 6. A normal number is its own score; score 0 is "
        "the middle of a uniform number. Example: the witness e1[0] = 2 has a first number two deviations up."
    ),
    "variate": (
        "A quantity that is drawn with every value and whose mean is known exactly. The part of a value that it explains is "
        "taken away, and fewer draws decide. Example: chi^2_d/d, of mean one, beside a norm that follows it."
    ),
    "gain": (
        "The variance of an estimate over what variates leave of it. Example: with a gain of 10 a tenth of the draws gives "
        "the same interval."
    ),
    "control": (
        "A model on which one hypothesis is broken on purpose, so that the claim must fail there. A check that passes its "
        "controls too would notice nothing. Example: attention without softmax for a theorem about softmax."
    ),
    "mutant": (
        "A wrong variant of a claim that the check must reject on the same data. Example: the limit with another exponent, "
        "or with a factor left out. A mutant that is not rejected makes the claim VACUOUS."
    ),
    "power": (
        "The deviation from the claim that the planned draws refute nine times in ten. It says how wrong a claim may be "
        "before the check usually sees it. Example: a limit off by 1.2."
    ),
    "attempt": (
        "One try to support a claim with new seeds. Tries are counted over all designs, and each spends a part of the "
        "risk, so that trying until it is green does not work. Example: the first try has risk 1.5 %."
    ),
    "kept": (
        "A result that was computed before from the same sources, versions and settings. It is shown again and not computed "
        "again. Example: `kept 22 Nov 12:37`; `--fresh` computes anew."
    ),
    "sweep": (
        "The increasing sizes at which a limit or a rate is measured. The value at infinity is extrapolated from them. "
        "Example: T = 32, 64, 128, 256."
    ),
    "case": (
        "One combination of subject and parameter values for which a claim is decided by itself. Example: `15/15 ✓` says "
        "that the claim holds in all 15 cases."
    ),
    "subject": (
        "A family of models that a theorem speaks of, built from a random key. Example: a transformer at initialisation "
        "with exponential attention."
    ),
    "scope": (
        "The set for which a word was shown. Example: PROVED for context 3 and dimension 1, SUPPORTED up to context 64."
    ),
    "reading": (
        "How a stated number is meant: exactly, or within the margin. Example: 1.95 refutes the exact reading of 2; it "
        "supports the reading within 0.1."
    ),
    "baseline": (
        "A file that keeps what a run found, so that later runs tell what broke since. Example: `verify baseline save`, "
        "then `verify baseline compare` in each build."
    ),
    "dependency": (
        "A theorem that another one uses. If a dependency does not hold, the other is BLOCKED. Example: "
        "`verify theorem +ID` checks a theorem with its dependencies."
    ),
    "root": (
        "A folder of theorem files. The library is one; a project names its own in pyproject.toml. Example: "
        '`[tool.theorax]` with `theorems = ["claims"]`, or `--root claims`.'
    ),
    "padding": (
        "With `padded=True` all sizes of a sweep share one compiled program, in arrays of the largest size. It saves "
        "compile time, and `observe` must mask what lies beyond. Example: six sizes need one program instead of six."
    ),
    "noise": (
        "The standard deviation of one draw, from which the number of draws is planned. It is assumed until measured. "
        "Example: noise sd 0.4 per draw, assumed; `verify plan ID --pilot` measures it."
    ),
    "decides": (
        "The probability that a claim is supported over all its cases and looks, if it holds exactly and is as noisy as "
        "planned; beside it, that in the worst case of its class. Example: decides 0.55, at worst 0.2: not worth running."
    ),
    "pilot": (
        "A few draws, from seeds that no decision uses, which show the noise that draws are planned for. Example: "
        "`verify plan ID --pilot`; an experiment without `draws=` plans by one."
    ),
    "assumed": (
        "Taken for true without a check. Every green word rests on its assumptions, and the report lists them. Example: "
        "at finite T the value is off by c/T with any c."
    ),
    "blind to": (
        "Possibilities that the check could not have seen with any number of draws. No check sees whether the SymPy claim is "
        "the theorem of the paper, and whether the model is the paper's model. Example: a decay that ends in a constant up to "
        "1.15 times the last value."
    ),
    "seen": (
        "The sizes, letters and subjects at which a claim was looked at. Values marked `ours` were chosen by the engine, by a "
        "digest of the statement: they can refute and nothing else. Example: `a = 0, 1; 3/7 (ours)`."
    ),
    "ours": (
        "A value of a letter, or a size, that the engine chose in addition to the author's cases. A digest of the statement "
        "fixes it before any draw. Example: a formula measured at 0 and 1 is refuted at 3/7 (ours)."
    ),
    "class": (
        "Undecided, because the class of corrections is the default one and a form outside it explains the data too. Example: "
        "a limit that seems wrong under powers of n may be approached like 1/log n."
    ),
    "numeric_floor": (
        "Undecided, because rounding of the program's numbers is as large as what is measured. Both numbers are printed. "
        "Example: exp(x) - 1 at x = 1e-12 keeps four digits in double precision; expm1(x) keeps all."
    ),
    "open step": (
        "A step of a proof that nothing confirms: there is no second way to compute it, or computer algebra failed. What rests "
        "on it is measured. Example: `verify lint --proofs ID` lists them."
    ),
    "by convention": (
        "A derivative that JAX returns at a kink, where the differences on the two sides disagree. The claim there speaks of "
        "JAX's choice. Example: the derivative of relu at 0 is 0."
    ),
    "range": (
        "Undecided, because the claim fails at a value of the engine's outside those of its author, where a hypothesis in "
        "words may fail too. A condition states the range. Example: `where=n <= 16`."
    ),
    "ERROR": (
        "Nothing was decided, since the check itself failed: an exception, a number that is none, a false proof step. "
        "Example: a draw that takes the logarithm of a negative number."
    ),
    "BLOCKED": (
        "Not checked, because a theorem that it uses does not hold. Example: `2 wait for xavier_keyquery_scaling`."
    ),
}
