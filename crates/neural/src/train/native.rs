//! The gradient by hand: forward and backward through the rows of a batch, on plain slices. No framework, one thread;
//! the trainer runs several. `engine.rs` says what is computed.
//!
//! Everything is one operation: a row of numbers, times one number, is added to a row of sums, which stay in registers.
//! Half of the numbers are zero, after a rectifier; skipping them costs more in branches than it saves.

use super::batch::{Batch, OUTSIDE};
use super::engine::{Engine, EngineError, Said, softmax_gradient, value_gradient};
use super::params::{LANES, Params, padded};
use crate::spec::{Architecture, EXPANSION, NetSpec};

/// Computes on this processor.
#[derive(Debug, Clone, Copy, Default)]
pub struct Native;

impl Engine for Native {
    fn gradient(
        &self,
        spec: &NetSpec,
        params: &Params,
        batch: &Batch,
        share: f32,
        gradient: &mut Params,
    ) -> Result<Said, EngineError> {
        let seen = forward(spec, params, batch);
        let said = seen.said(batch);
        let mut slope = vec![0.0; seen.logits.len()];
        softmax_gradient(batch, &said.logits, share, |at, value| {
            slope[batch.moves[at] as usize] += value;
        });
        let slopes = (slope, value_gradient(batch, &said.values, share));
        backward(spec, params, batch, &seen, slopes, gradient);
        Ok(said)
    }

    fn say(&self, spec: &NetSpec, params: &Params, batch: &Batch) -> Result<Said, EngineError> {
        Ok(forward(spec, params, batch).said(batch))
    }
}

/// What the layers computed.
struct Seen {
    /// `layers[i]`: the rows of layer i.
    layers: Vec<Layer>,
    /// `[row of the last layer][plane]`.
    logits: Vec<f32>,
    /// `[position][channel]`, the means that the value head is shown; nothing without one.
    means: Vec<f32>,
    /// `[position]`.
    values: Vec<f32>,
}

/// What a layer computed.
struct Layer {
    /// What it hands on, a row a cell.
    out: Vec<f32>,
    /// Of a mobile block: the widened rows of the layer before, and what the depthwise layer makes of them.
    wide: Vec<f32>,
    deep: Vec<f32>,
}

impl Seen {
    fn said(&self, batch: &Batch) -> Said {
        let logits = batch.moves.iter().map(|&at| self.logits[at as usize]).collect();
        Said { logits, values: self.values.clone() }
    }
}

fn forward(spec: &NetSpec, params: &Params, batch: &Batch) -> Seen {
    let width = padded(spec.filters);
    let mut tensors = params.tensors.chunks_exact(2).map(|pair| (&pair[0][..], &pair[1][..]));
    let mut next = move || tensors.next().expect("as many as the spec has");
    let (weight, bias) = next();
    let mut out = filled(batch.rows[0], bias);
    for &(row, input) in &batch.ones {
        let (row, input) = (row as usize * width, input as usize * width);
        for (sum, w) in out[row..row + width].iter_mut().zip(&weight[input..input + width]) {
            *sum += w;
        }
    }
    relu(&mut out);
    let mut layers = vec![Layer { out, wide: Vec::new(), deep: Vec::new() }];
    for i in 1..spec.depth {
        let (x, taps, rows) = (&layers[i - 1].out, &batch.taps[i], batch.rows[i]);
        let layer = match spec.architecture {
            Architecture::Basic => {
                let (weight, bias) = next();
                let mut out = filled(rows, bias);
                gather(x, width, taps, weight, &mut out, width);
                relu(&mut out);
                Layer { out, wide: Vec::new(), deep: Vec::new() }
            }
            Architecture::Residual => {
                let (weight, bias) = next();
                let mut out = filled(rows, bias);
                gather(x, width, taps, weight, &mut out, width);
                add_centres(x, taps, &mut out, width);
                relu(&mut out);
                Layer { out, wide: Vec::new(), deep: Vec::new() }
            }
            Architecture::Mobile => {
                let inside = padded(EXPANSION * spec.filters);
                let (weight, bias) = next();
                let mut wide = filled(batch.rows[i - 1], bias);
                multiply(x, width, weight, &mut wide, inside);
                relu(&mut wide);
                let (weight, bias) = next();
                let mut deep = filled(rows, bias);
                for (row, tap, from) in inner_taps(taps) {
                    let (w, x) = (&weight[tap * inside..][..inside], &wide[from * inside..][..inside]);
                    let sums = &mut deep[row * inside..][..inside];
                    sums.iter_mut().zip(w).zip(x).for_each(|((sum, w), x)| *sum += w * x);
                }
                relu(&mut deep);
                let (weight, bias) = next();
                let mut out = filled(rows, bias);
                multiply(&deep, inside, weight, &mut out, width);
                add_centres(x, taps, &mut out, width);
                Layer { out, wide, deep }
            }
        };
        layers.push(layer);
    }
    let (weight, bias) = next();
    let top = &layers[spec.depth - 1].out;
    let mut logits = filled(batch.rows[spec.depth - 1], bias);
    multiply(top, width, weight, &mut logits, padded(spec.outputs));
    let (mut means, mut values) = (Vec::new(), Vec::new());
    if spec.value {
        means = vec![0.0; batch.len() * width];
        for (mean, rows) in means.chunks_exact_mut(width).zip(batch.top_rows()) {
            add_rows(&top[rows.start * width..rows.end * width], mean);
            mean.iter_mut().for_each(|mean| *mean /= rows.len() as f32);
        }
        // A matrix like the others, of which only the first column is not padding.
        let (weight, bias) = next();
        let mut columns = filled(batch.len(), bias);
        multiply(&means, width, weight, &mut columns, LANES);
        values = columns.into_iter().step_by(LANES).collect();
    }
    Seen { layers, logits, means, values }
}

/// Adds the gradient to `gradient`, given the slopes of the loss by each logit and by each value.
fn backward(
    spec: &NetSpec,
    params: &Params,
    batch: &Batch,
    seen: &Seen,
    (slope, value_slope): (Vec<f32>, Vec<f32>),
    gradient: &mut Params,
) {
    let width = padded(spec.filters);
    let mut pairs: Vec<(&[f32], &mut [Vec<f32>])> = Vec::new();
    for (pair, into) in params.tensors.chunks_exact(2).zip(gradient.tensors.chunks_exact_mut(2)) {
        pairs.push((&pair[0], into));
    }
    let mut next = || pairs.pop().expect("as many as the spec has");

    let mut mean_slope = Vec::new();
    if spec.value {
        let (weight, into) = next();
        let mut columns = vec![0.0; value_slope.len() * LANES];
        columns.iter_mut().step_by(LANES).zip(value_slope).for_each(|(column, slope)| *column = slope);
        add_rows(&columns, &mut into[1]);
        multiply_weights(&seen.means, width, &columns, LANES, &mut into[0]);
        mean_slope = multiply_back(&columns, LANES, weight, width);
    }
    let (weight, into) = next();
    let outs = padded(spec.outputs);
    let top = &seen.layers[spec.depth - 1].out;
    add_rows(&slope, &mut into[1]);
    multiply_weights(top, width, &slope, outs, &mut into[0]);
    let mut slope = multiply_back(&slope, outs, weight, width);
    for (mean_slope, rows) in mean_slope.chunks_exact(width).zip(batch.top_rows()) {
        let share = 1.0 / rows.len() as f32;
        for row in slope[rows.start * width..rows.end * width].chunks_exact_mut(width) {
            row.iter_mut().zip(mean_slope).for_each(|(slope, mean)| *slope += share * mean);
        }
    }

    for i in (1..spec.depth).rev() {
        let (x, taps, layer) = (&seen.layers[i - 1].out, &batch.taps[i], &seen.layers[i]);
        let mut below = vec![0.0; x.len()];
        match spec.architecture {
            Architecture::Basic | Architecture::Residual => {
                relu_back(&layer.out, &mut slope);
                if spec.architecture == Architecture::Residual {
                    add_centres_back(&slope, taps, &mut below, width);
                }
                let (weight, into) = next();
                add_rows(&slope, &mut into[1]);
                gather_weights(x, width, taps, &slope, width, &mut into[0]);
                gather_back(&slope, width, taps, weight, &mut below, width);
            }
            Architecture::Mobile => {
                let inside = padded(EXPANSION * spec.filters);
                add_centres_back(&slope, taps, &mut below, width);
                let (weight, into) = next();
                add_rows(&slope, &mut into[1]);
                multiply_weights(&layer.deep, inside, &slope, width, &mut into[0]);
                let mut deep = multiply_back(&slope, width, weight, inside);
                relu_back(&layer.deep, &mut deep);
                let (weight, into) = next();
                add_rows(&deep, &mut into[1]);
                let mut wide = vec![0.0; layer.wide.len()];
                for (row, tap, from) in inner_taps(taps) {
                    let deep = &deep[row * inside..][..inside];
                    let (w, dw) = (&weight[tap * inside..][..inside], &mut into[0][tap * inside..][..inside]);
                    let (x, dx) =
                        (&layer.wide[from * inside..][..inside], &mut wide[from * inside..][..inside]);
                    for c in 0..inside {
                        dw[c] += deep[c] * x[c];
                        dx[c] += deep[c] * w[c];
                    }
                }
                relu_back(&layer.wide, &mut wide);
                let (weight, into) = next();
                add_rows(&wide, &mut into[1]);
                multiply_weights(x, width, &wide, inside, &mut into[0]);
                for (sum, more) in below.iter_mut().zip(multiply_back(&wide, inside, weight, width)) {
                    *sum += more;
                }
            }
        }
        slope = below;
    }
    relu_back(&seen.layers[0].out, &mut slope);
    let (_, into) = next();
    add_rows(&slope, &mut into[1]);
    for &(row, input) in &batch.ones {
        let (row, input) = (row as usize * width, input as usize * width);
        for (sum, s) in into[0][input..input + width].iter_mut().zip(&slope[row..row + width]) {
            *sum += s;
        }
    }
}

/// So many rows that are all alike.
fn filled(rows: usize, row: &[f32]) -> Vec<f32> {
    row.repeat(rows)
}

fn relu(x: &mut [f32]) {
    x.iter_mut().for_each(|x| *x = x.max(0.0));
}

fn relu_back(out: &[f32], slope: &mut [f32]) {
    slope.iter_mut().zip(out).for_each(|(slope, &out)| *slope = if out > 0.0 { *slope } else { 0.0 });
}

/// Adds up rows.
fn add_rows(rows: &[f32], sum: &mut [f32]) {
    for row in rows.chunks_exact(sum.len()) {
        sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
}

/// The taps that are inside: the row, which tap, and which row of the layer before it reads.
fn inner_taps(taps: &[u32]) -> impl Iterator<Item = (usize, usize, usize)> {
    let all = taps.iter().enumerate().filter(|&(_, &from)| from != OUTSIDE);
    all.map(|(at, &from)| (at / 9, at % 9, from as usize - 1))
}

/// Adds to each row of `out` the row of `x` in the middle of its taps.
fn add_centres(x: &[f32], taps: &[u32], out: &mut [f32], width: usize) {
    for (out, taps) in out.chunks_exact_mut(width).zip(taps.chunks_exact(9)) {
        let from = (taps[4] as usize - 1) * width;
        out.iter_mut().zip(&x[from..from + width]).for_each(|(out, x)| *out += x);
    }
}

fn add_centres_back(slope: &[f32], taps: &[u32], below: &mut [f32], width: usize) {
    for (slope, taps) in slope.chunks_exact(width).zip(taps.chunks_exact(9)) {
        let to = (taps[4] as usize - 1) * width;
        below[to..to + width].iter_mut().zip(slope).for_each(|(below, slope)| *below += slope);
    }
}

/// out[row] += x[row] * weight.
fn multiply(x: &[f32], ins: usize, weight: &[f32], out: &mut [f32], outs: usize) {
    for (x, out) in x.chunks_exact(ins).zip(out.chunks_exact_mut(outs)) {
        blocks(out, |from, sums| sums.add(x, &weight[from..], outs));
    }
}

/// weight += x[row] (outer product) slope[row].
fn multiply_weights(x: &[f32], ins: usize, slope: &[f32], outs: usize, weight: &mut [f32]) {
    for (x, slope) in x.chunks_exact(ins).zip(slope.chunks_exact(outs)) {
        outer(x, slope, weight);
    }
}

/// slope[row] * transposed weight.
fn multiply_back(slope: &[f32], outs: usize, weight: &[f32], ins: usize) -> Vec<f32> {
    let mut below = vec![0.0; slope.len() / outs * ins];
    multiply(slope, outs, &transposed(weight, outs), &mut below, ins);
    below
}

/// out[row] += the rows of x at its taps, each times its part of the weight.
fn gather(x: &[f32], ins: usize, taps: &[u32], weight: &[f32], out: &mut [f32], outs: usize) {
    for (out, taps) in out.chunks_exact_mut(outs).zip(taps.chunks_exact(9)) {
        blocks(out, |from, sums| {
            for (&tap, weight) in taps.iter().zip(weight.chunks_exact(ins * outs)) {
                if tap != OUTSIDE {
                    sums.add(&x[(tap as usize - 1) * ins..][..ins], &weight[from..], outs);
                }
            }
        });
    }
}

fn gather_weights(x: &[f32], ins: usize, taps: &[u32], slope: &[f32], outs: usize, weight: &mut [f32]) {
    for (row, tap, from) in inner_taps(taps) {
        let part = &mut weight[tap * ins * outs..][..ins * outs];
        outer(&x[from * ins..][..ins], &slope[row * outs..][..outs], part);
    }
}

fn gather_back(slope: &[f32], outs: usize, taps: &[u32], weight: &[f32], below: &mut [f32], ins: usize) {
    let turned: Vec<Vec<f32>> = weight.chunks_exact(ins * outs).map(|part| transposed(part, outs)).collect();
    for (row, tap, from) in inner_taps(taps) {
        let slope = &slope[row * outs..][..outs];
        blocks(&mut below[from * ins..][..ins], |from, sums| sums.add(slope, &turned[tap][from..], ins));
    }
}

fn transposed(weight: &[f32], outs: usize) -> Vec<f32> {
    let ins = weight.len() / outs;
    let mut turned = vec![0.0; weight.len()];
    for (i, row) in weight.chunks_exact(outs).enumerate() {
        for (out, &value) in row.iter().enumerate() {
            turned[out * ins + i] = value;
        }
    }
    turned
}

/// weight[i] += x[i] * slope.
fn outer(x: &[f32], slope: &[f32], weight: &mut [f32]) {
    let width = slope.len();
    for (slope, from) in slope.chunks_exact(LANES).zip((0..).step_by(LANES)) {
        let slope: &[f32; LANES] = slope.try_into().expect("whole vectors");
        for (&x, row) in x.iter().zip(weight.chunks_exact_mut(width)) {
            let row: &mut [f32; LANES] = (&mut row[from..from + LANES]).try_into().expect("whole vectors");
            for lane in 0..LANES {
                row[lane] = x.mul_add(slope[lane], row[lane]);
            }
        }
    }
}

/// Sums that stay in registers: two of each, since an addition has to wait for the one before it.
struct Sums {
    even: [f32; LANES],
    odd: [f32; LANES],
}

impl Sums {
    /// sums += x * weight, where row i of the weight begins at `i * stride`. An even number of rows.
    #[inline(always)]
    fn add(&mut self, x: &[f32], weight: &[f32], stride: usize) {
        for (x, rows) in x.chunks_exact(2).zip(weight.chunks(2 * stride)) {
            let (even, odd) = (&rows[..LANES], &rows[stride..stride + LANES]);
            self.even.iter_mut().zip(even).for_each(|(sum, &weight)| *sum = x[0].mul_add(weight, *sum));
            self.odd.iter_mut().zip(odd).for_each(|(sum, &weight)| *sum = x[1].mul_add(weight, *sum));
        }
    }
}

/// Works through a row in pieces, each with its first column.
#[inline(always)]
fn blocks(row: &mut [f32], mut work: impl FnMut(usize, &mut Sums)) {
    for (piece, from) in row.chunks_exact_mut(LANES).zip((0..).step_by(LANES)) {
        let mut sums = Sums { even: [0.0; LANES], odd: [0.0; LANES] };
        work(from, &mut sums);
        for (lane, out) in piece.iter_mut().enumerate() {
            *out += sums.even[lane] + sums.odd[lane];
        }
    }
}
