"""The compiled half of an iteration: the nonnegative matrix that satisfies the cuts."""

from __future__ import annotations

import numpy as np

from radcluster.compiled import kernel


@kernel(nogil=True, fastmath=False)
def centred(w, dual, rho, u, shift, out):
    """out = P (W - L / rho) P - shift uu' with P = I - uu', the matrix that is projected."""
    n = len(u)
    image = np.zeros(n)
    for i in range(n):
        total = 0.0
        for j in range(n):
            value = w[i, j] - dual[i, j] / rho
            out[i, j] = value
            total += value * u[j]
        image[i] = total
    corner = 0.0
    for i in range(n):
        corner += image[i] * u[i]
    for i in range(n):
        for j in range(n):
            out[i, j] += (corner - shift) * u[i] * u[j] - u[i] * image[j] - image[i] * u[j]


@kernel(nogil=True)
def update(y, dual, cost, conflicts, floor, start, place, coef, norm, mu, rho, step, sweeps, w):
    """W for the present Y and L by sweeps over the cuts, then the step of L; the residuals.

    Only the upper triangle is worked on. ``place`` is the position of an entry in the flat
    matrix, ``coef`` its coefficient in the symmetric matrix of the cut, ``norm`` the squared
    Frobenius norm of that matrix.

    Returns |Y - W|^2 and |W - previous W|^2.
    """
    n = len(y)
    t = np.empty((n, n))
    for i in range(n):
        for j in range(i, n):
            t[i, j] = y[i, j] - (cost[i, j] - dual[i, j]) / rho
    flat = t.ravel()
    for c in range(len(mu)):
        if mu[c] > 0.0:
            for e in range(start[c], start[c + 1]):
                flat[place[e]] -= coef[e] * mu[c] / rho
    diagonal = n + 1
    for _ in range(sweeps):
        for c in range(len(mu)):
            if norm[c] <= 0.0:
                continue
            value = 0.0
            for e in range(start[c], start[c + 1]):
                p = place[e]
                if p % diagonal == 0:
                    value += coef[e] * max(flat[p], floor[p // diagonal])
                elif flat[p] > 0.0:
                    value += 2.0 * coef[e] * flat[p]
            change = max(rho * value / norm[c], -mu[c])
            if change != 0.0:
                mu[c] += change
                for e in range(start[c], start[c + 1]):
                    flat[place[e]] -= coef[e] * change / rho
    gap, moved = 0.0, 0.0
    for i in range(n):
        for j in range(i, n):
            if i == j:
                value = max(t[i, i], floor[i])
                twice = 1.0
            else:
                value = 0.0 if conflicts[i, j] else max(t[i, j], 0.0)
                twice = 2.0
            moved += twice * (value - w[i, j]) ** 2
            gap += twice * (y[i, j] - value) ** 2
            w[i, j] = w[j, i] = value
            dual[i, j] += step * rho * (y[i, j] - value)
            dual[j, i] = dual[i, j]
    return gap, moved


@kernel(nogil=True)
def adjoint(start, place, coef, mu, out, size):
    """out = sum_c mu_c A_c and size = sum_c mu_c |A_c|, upper triangles; most terms of an entry."""
    flat, sizes = out.ravel(), size.ravel()
    count = np.zeros(len(flat), np.int32)
    most = 0
    for c in range(len(mu)):
        if mu[c] <= 0.0:
            continue
        for e in range(start[c], start[c + 1]):
            flat[place[e]] += coef[e] * mu[c]
            sizes[place[e]] += abs(coef[e]) * mu[c]
            count[place[e]] += 1
            most = max(most, count[place[e]])
    return most


@kernel(nogil=True)
def capped_simplex(values, total, out):
    """The nearest point with 0 <= x <= 1 and sum x = total; the threshold subtracted."""
    low = high = values[0]
    for v in values:
        low, high = min(low, v), max(high, v)
    low -= 1.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle <= low or middle >= high:
            break
        mass = 0.0
        for v in values:
            mass += min(max(v - middle, 0.0), 1.0)
        if mass > total:
            low = middle
        else:
            high = middle
    for i in range(len(values)):
        out[i] = min(max(values[i] - high, 0.0), 1.0)
    return high
