//! A small convex quadratic on the simplex.

/// Minimises `g'(z - y) + (z - y)'H(z - y) / 2` over distributions z that are 0 outside `clusters`,
/// from z = y on; `hessian` is over `clusters`, row by row. Returns z in `z` and whether it moved.
///
/// Exchanges between two entries, exact along each, until the gap has fallen to a ten-thousandth:
/// the entries are few and the sums over pairs that gave g and H cost far more.
pub(crate) fn minimize(
    gradient: &[f64],
    hessian: &[f64],
    clusters: &[usize],
    y: &[f64],
    z: &mut [f64],
    residual: &mut Vec<f64>,
) -> bool {
    let f = clusters.len();
    z.copy_from_slice(y);
    residual.clear();
    residual.extend(clusters.iter().map(|&k| gradient[k]));
    let mut first_gap = None;
    let mut moved = false;
    for _ in 0..40 * f {
        let mut to = 0;
        for (l, &r) in residual.iter().enumerate() {
            if r < residual[to] {
                to = l;
            }
        }
        // Of those that pay, the one whose exchange gains most.
        let (mut from, mut best, mut worst) = (f, 0.0, 0.0f64);
        for l in 0..f {
            let gap = residual[l] - residual[to];
            let room = z[clusters[l]];
            if !(gap > 0.0 && room > 0.0) {
                continue;
            }
            worst = worst.max(gap);
            let curvature = hessian[l * f + l] + hessian[to * f + to] - 2.0 * hessian[l * f + to];
            let step = if curvature * room > gap { gap / curvature } else { room };
            let gain = step * (gap - 0.5 * curvature.max(0.0) * step);
            if gain > best {
                (from, best) = (l, gain);
            }
        }
        if from == f || worst <= 1e-4 * *first_gap.get_or_insert(worst) && moved {
            break;
        }
        let gap = residual[from] - residual[to];
        let room = z[clusters[from]];
        let curvature =
            hessian[from * f + from] + hessian[to * f + to] - 2.0 * hessian[from * f + to];
        let step = if curvature * room > gap { gap / curvature } else { room };
        if step == room {
            z[clusters[from]] = 0.0;
        } else {
            z[clusters[from]] -= step;
        }
        z[clusters[to]] += step;
        moved = true;
        for l in 0..f {
            residual[l] += step * (hessian[l * f + to] - hessian[l * f + from]);
        }
    }
    moved
}
