//! The hot loop: a network inside a playout.
//!
//! A search asks for a few moves of a position that differs from the last one in a few cells, so most of a forward pass
//! is not computed. The first layer is a sum over the cells that are one: it is kept, and changed by the cells that
//! changed. Of the other layers only what the moves asked for can see is computed (a cell of one layer sees 3x3 of the
//! one below), and kept until something that it sees has changed.
//!
//! The sums of the first layer are in fixed point, so that they are exact: a position has the same logits however it
//! was come to, and nothing drifts. All other sums have a fixed order, and fused multiply-adds round alike on every
//! machine. The loops are plain arrays of eight numbers, which the compiler turns into vector instructions.

use crate::net::Net;
use crate::spec::{Architecture, EXPANSION};
use sortie_core::planes::{Cell, Layout, Scene};

/// Eight numbers that are computed together.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(32))]
struct Eight([f32; 8]);

/// Eight sums in fixed point.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(32))]
struct Fixed([i32; 8]);

impl Eight {
    const ZERO: Eight = Eight([0.0; 8]);

    #[inline(always)]
    fn add_product(&mut self, value: f32, weights: &Eight) {
        for (sum, &weight) in self.0.iter_mut().zip(&weights.0) {
            *sum = value.mul_add(weight, *sum);
        }
    }

    #[inline(always)]
    fn add_products(&mut self, values: &Eight, weights: &Eight) {
        for ((sum, &value), &weight) in self.0.iter_mut().zip(&values.0).zip(&weights.0) {
            *sum = value.mul_add(weight, *sum);
        }
    }

    #[inline(always)]
    fn relu(mut self) -> Eight {
        self.0.iter_mut().for_each(|value| *value = if *value > 0.0 { *value } else { 0.0 });
        self
    }
}

impl Fixed {
    #[inline(always)]
    fn plus(self, other: Fixed) -> Fixed {
        Fixed(std::array::from_fn(|i| self.0[i].wrapping_add(other.0[i])))
    }

    #[inline(always)]
    fn minus(self, other: Fixed) -> Fixed {
        Fixed(std::array::from_fn(|i| self.0[i].wrapping_sub(other.0[i])))
    }
}

/// The channels of a cell: `B` times eight, those beyond the network's filters being zero.
type Channels<const B: usize> = [Eight; B];

/// The inside of a block of the mobile architecture.
type Wide<const B: usize> = [Channels<B>; EXPANSION];

/// The weights of a network, arranged for `Board`.
#[derive(Debug)]
pub struct Weights<const B: usize> {
    size: usize,
    /// `first[plane * 9 + tap]`, times `2^shift`, what the shift is chosen for: no sum of them can overflow.
    first: Vec<[Fixed; B]>,
    first_bias: [Fixed; B],
    /// `2^-shift`.
    unit: f32,
    layers: Vec<Layer<B>>,
    /// `head[plane]`.
    head: Vec<Channels<B>>,
    head_bias: Vec<f32>,
    /// The value head and its bias.
    value: Option<(Channels<B>, f32)>,
}

#[derive(Debug)]
enum Layer<const B: usize> {
    Plain(Plain<B>),
    Mobile(Mobile<B>),
}

#[derive(Debug)]
struct Plain<const B: usize> {
    residual: bool,
    /// `weight[tap * 8 * B + channel in]`.
    weight: Vec<Channels<B>>,
    bias: Channels<B>,
}

#[derive(Debug)]
struct Mobile<const B: usize> {
    /// `expand[channel in]`.
    expand: Vec<Wide<B>>,
    expand_bias: Wide<B>,
    /// `depthwise[tap]`.
    depthwise: Vec<Wide<B>>,
    depthwise_bias: Wide<B>,
    /// `project[half][channel in]`.
    project: [Vec<Channels<B>>; EXPANSION],
    project_bias: Channels<B>,
}

/// What a block of the mobile architecture has inside has its bits of `Board::stale` from here on.
const INSIDE: usize = 32;

impl<const B: usize> Weights<B> {
    /// The weights of a network of at most `8 * B` filters and 31 layers; `None` for a larger one.
    pub fn new(net: &Net) -> Option<Weights<B>> {
        let spec = net.spec();
        if spec.filters > 8 * B || spec.depth >= INSIDE {
            return None;
        }
        let (n, inputs) = (spec.filters, spec.inputs);
        let channels = |value: &dyn Fn(usize) -> f32| -> Channels<B> {
            let at = |channel: usize| if channel < n { value(channel) } else { 0.0 };
            std::array::from_fn(|b| Eight(std::array::from_fn(|i| at(8 * b + i))))
        };
        let (weight, bias) = (net.tensor("layers.0.weight"), net.tensor("layers.0.bias"));
        let largest = (0..n)
            .map(|out| {
                let row = &weight[out * inputs * 9..][..inputs * 9];
                row.iter().map(|w| w.abs() as f64).sum::<f64>() + bias[out].abs() as f64
            })
            .fold(1e-9, f64::max);
        // Rounding adds at most a half a weight, which the half that is left free has room for.
        let shift = ((1u64 << 30) as f64 / largest).log2().floor().clamp(-60.0, 60.0) as i32;
        let fixed = |channels: Channels<B>| {
            channels.map(|eight| Fixed(eight.0.map(|w| (w as f64 * 2f64.powi(shift)).round() as i32)))
        };
        let first = (0..inputs * 9).map(|i| fixed(channels(&|out| weight[out * inputs * 9 + i]))).collect();
        let plain = |l: usize, residual| {
            let weight = net.tensor(&format!("layers.{l}.weight"));
            let bias = net.tensor(&format!("layers.{l}.bias"));
            let row = |tap: usize, from: usize| match from < n {
                true => channels(&|out| weight[(out * n + from) * 9 + tap]),
                false => [Eight::ZERO; B],
            };
            let rows = (0..9).flat_map(|tap| (0..8 * B).map(move |from| (tap, from)));
            let weight = rows.map(|(tap, from)| row(tap, from)).collect();
            Layer::Plain(Plain { residual, weight, bias: channels(&|out| bias[out]) })
        };
        let mobile = |l: usize| {
            let part = |name: &str| {
                let tensor = |kind: &str| net.tensor(&format!("layers.{l}.{name}.{kind}"));
                (tensor("weight"), tensor("bias"))
            };
            let wide = |value: &dyn Fn(usize) -> f32| -> Wide<B> {
                std::array::from_fn(|half| channels(&|channel| value(half * n + channel)))
            };
            let ((expand, expand_bias), (depthwise, depthwise_bias)) = (part("expand"), part("depthwise"));
            let (project, project_bias) = part("project");
            let column = |from: usize| channels(&|out| project[out * EXPANSION * n + from]);
            Layer::Mobile(Mobile {
                expand: (0..n).map(|from| wide(&|out| expand[out * n + from])).collect(),
                expand_bias: wide(&|out| expand_bias[out]),
                depthwise: (0..9).map(|tap| wide(&|channel| depthwise[channel * 9 + tap])).collect(),
                depthwise_bias: wide(&|channel| depthwise_bias[channel]),
                project: std::array::from_fn(|half| (0..n).map(|i| column(half * n + i)).collect()),
                project_bias: channels(&|out| project_bias[out]),
            })
        };
        let layers = (1..spec.depth).map(|l| match spec.architecture {
            Architecture::Basic => plain(l, false),
            Architecture::Residual => plain(l, true),
            Architecture::Mobile => mobile(l),
        });
        let head = net.tensor("head.weight");
        Some(Weights {
            size: spec.size,
            first,
            first_bias: fixed(channels(&|out| bias[out])),
            unit: 2f64.powi(-shift) as f32,
            layers: layers.collect(),
            head: (0..spec.outputs).map(|plane| channels(&|from| head[plane * n + from])).collect(),
            head_bias: net.tensor("head.bias").to_vec(),
            value: spec.value.then(|| {
                let weight = net.tensor("value.weight");
                (channels(&|from| weight[from]), net.tensor("value.bias")[0])
            }),
        })
    }
}

/// What one thread knows of the last position it was shown.
///
/// Cells are numbered on a field that holds the board and any window on it, with a rim that is always zero.
#[derive(Debug)]
pub struct Board<const B: usize> {
    stride: usize,
    /// Cells of the field.
    area: usize,
    /// Cells to the left of and above the board.
    margin: i32,
    corner: Option<(i32, i32)>,
    /// The inputs that are one, as `plane * area + cell`.
    inputs: Vec<u32>,
    next_inputs: Vec<u32>,
    /// `seen[input]` is `scene` if it is one.
    seen: Vec<u32>,
    scene: u32,
    /// Cells one of whose inputs has changed, and by cell whether it is on that list.
    changed: Vec<u32>,
    is_changed: Vec<bool>,
    /// By cell: the first layer before its rectifier.
    sums: Vec<[Fixed; B]>,
    /// `values[layer][cell]`; zero outside of the window.
    values: Vec<Vec<Channels<B>>>,
    /// `inside[layer][cell]` of mobile layers, expanded; zero outside of the window.
    inside: Vec<Vec<Wide<B>>>,
    /// By cell: bit `l` if layer `l` must be computed anew before it is used, bit `INSIDE + l` for what it has inside.
    /// Never set outside of the window.
    stale: Vec<u64>,
    /// What becomes stale around a cell that changes, row by row.
    marks: Vec<u64>,
    /// By layer: the cells to compute.
    todo: Vec<Vec<u32>>,
    /// The cells of the moves, for the value.
    cells: Vec<usize>,
}

impl<const B: usize> Board<B> {
    /// A board that was shown nothing yet.
    pub fn new(weights: &Weights<B>, layout: &Layout) -> Board<B> {
        let (size, width, height) = (weights.size, layout.width, layout.height);
        // A window is on the board or, if it is the larger one, around it; and there is a rim.
        let margin = 1 + size.saturating_sub(width.min(height));
        let stride = margin + width.max(size) + 1;
        let area = stride * (margin + height.max(size) + 1);
        let depth = 1 + weights.layers.len();
        Board {
            stride,
            area,
            margin: margin as i32,
            corner: None,
            inputs: Vec::new(),
            next_inputs: Vec::new(),
            seen: vec![0; weights.first.len() / 9 * area],
            scene: 1,
            changed: Vec::new(),
            is_changed: vec![false; area],
            sums: vec![weights.first_bias; area],
            values: vec![vec![[Eight::ZERO; B]; area]; depth],
            inside: std::iter::once(Vec::new())
                .chain(weights.layers.iter().map(|layer| match layer {
                    Layer::Plain(_) => Vec::new(),
                    Layer::Mobile(_) => vec![[[Eight::ZERO; B]; EXPANSION]; area],
                }))
                .collect(),
            stale: vec![0; area],
            marks: marks(depth),
            todo: vec![Vec::new(); depth],
            cells: Vec::new(),
        }
    }

    /// The logits of a scene's moves, written over `logits`. Moves that the window does not show get the lowest of the
    /// others, or zero.
    pub fn read(&mut self, weights: &Weights<B>, scene: &Scene, logits: &mut Vec<f32>) {
        self.look(weights, scene);
        self.compute(weights, scene);
        let top = self.values.last().expect("there is a first layer");
        logits.clear();
        let mut lowest = f32::INFINITY;
        for &cell in &scene.outputs {
            let mut logit = f32::NAN;
            if scene.index(cell, weights.size).is_some() {
                let plane = cell.plane as usize;
                let values = &top[self.cell(cell)];
                logit = weights.head_bias[plane] + dot(&weights.head[plane], values);
                lowest = lowest.min(logit);
            }
            logits.push(logit);
        }
        let lowest = if lowest.is_finite() { lowest } else { 0.0 };
        for logit in logits.iter_mut().filter(|logit| logit.is_nan()) {
            *logit = lowest;
        }
    }

    /// The value of a scene, if the network has that head. After `read` of the same scene it costs next to nothing.
    pub fn value(&mut self, weights: &Weights<B>, scene: &Scene) -> Option<f32> {
        let (weight, bias) = weights.value.as_ref()?;
        self.look(weights, scene);
        self.compute(weights, scene);
        let mut cells = std::mem::take(&mut self.cells);
        cells.clear();
        let shown = scene.outputs.iter().filter(|&&cell| scene.index(cell, weights.size).is_some());
        cells.extend(shown.map(|&cell| self.cell(cell)));
        // Each once, and in an order that does not depend on that of the moves.
        cells.sort_unstable();
        cells.dedup();
        let top = self.values.last().expect("there is a first layer");
        let mut sums = [Eight::ZERO; B];
        cells.iter().for_each(|&cell| add(&mut sums, &top[cell]));
        let value = bias + dot(weight, &sums) / cells.len().max(1) as f32;
        self.cells = cells;
        Some(value)
    }

    #[inline]
    fn cell(&self, Cell { x, y, .. }: Cell) -> usize {
        (y as usize + self.margin as usize) * self.stride + x as usize + self.margin as usize
    }

    /// Brings the first layer up to date, and marks all that the changes have made stale.
    fn look(&mut self, weights: &Weights<B>, scene: &Scene) {
        if self.corner != Some(scene.corner) {
            self.move_window(weights.size, scene.corner);
        }
        if self.scene == u32::MAX {
            self.seen.fill(0);
            self.scene = 1;
            self.inputs.iter().for_each(|&input| self.seen[input as usize] = 1);
        }
        self.scene += 1;
        self.next_inputs.clear();
        for &cell in scene.inputs.iter().filter(|&&cell| scene.index(cell, weights.size).is_some()) {
            let input = cell.plane as usize * self.area + self.cell(cell);
            self.next_inputs.push(input as u32);
            let was = std::mem::replace(&mut self.seen[input], self.scene);
            if was + 1 < self.scene {
                self.change::<true>(weights, input);
            }
        }
        for i in 0..self.inputs.len() {
            let input = self.inputs[i] as usize;
            if self.seen[input] != self.scene {
                self.change::<false>(weights, input);
            }
        }
        std::mem::swap(&mut self.inputs, &mut self.next_inputs);
        self.spread(weights.size, scene.corner);
    }

    /// Another window: everything in it is to be computed, everything else is zero.
    fn move_window(&mut self, size: usize, corner: (i32, i32)) {
        self.corner = Some(corner);
        self.stale.fill(0);
        for values in &mut self.values {
            values.fill([Eight::ZERO; B]);
        }
        for inside in &mut self.inside {
            inside.fill([[Eight::ZERO; B]; EXPANSION]);
        }
        for row in self.rows(size, corner, (0, size as i32), (0, size as i32)) {
            self.stale[row].fill(u64::MAX);
        }
    }

    /// The cells of some rows and columns of the window, row by row; those outside of it are left out.
    fn rows(
        &self,
        size: usize,
        corner: (i32, i32),
        (left, right): (i32, i32),
        (top, bottom): (i32, i32),
    ) -> impl Iterator<Item = std::ops::Range<usize>> + use<B> {
        let (left, right) = (left.max(0), right.min(size as i32));
        let start = self.margin + corner.0 + left;
        let (margin, stride, length) = (self.margin, self.stride, (right - left).max(0) as usize);
        (top.max(0)..bottom.min(size as i32)).map(move |y| {
            let from = (margin + corner.1 + y) as usize * stride + start as usize;
            from..from + length
        })
    }

    /// Adds an input to the first layer, or takes it away.
    #[inline]
    fn change<const ADD: bool>(&mut self, weights: &Weights<B>, input: usize) {
        let (plane, cell) = (input / self.area, input % self.area);
        if !std::mem::replace(&mut self.is_changed[cell], true) {
            self.changed.push(cell as u32);
        }
        let weights = &weights.first[plane * 9..][..9];
        for (tap, weight) in weights.iter().enumerate() {
            // The cell that sees this one through this weight lies on its other side.
            let from = cell + self.stride + 1 - (tap / 3) * self.stride - tap % 3;
            for (sum, &weight) in self.sums[from].iter_mut().zip(weight) {
                *sum = if ADD { sum.plus(weight) } else { sum.minus(weight) };
            }
        }
    }

    /// Marks what sees the changed cells.
    fn spread(&mut self, size: usize, corner: (i32, i32)) {
        let reach = self.values.len() as i32;
        let mut changed = std::mem::take(&mut self.changed);
        for &cell in &changed {
            let cell = cell as usize;
            self.is_changed[cell] = false;
            let (x, y) = ((cell % self.stride) as i32, (cell / self.stride) as i32);
            let (x, y) = (x - self.margin - corner.0, y - self.margin - corner.1);
            // The part of its surroundings that is in the window.
            let (left, top) = ((x - reach).max(0), (y - reach).max(0));
            let (right, bottom) = ((x + reach + 1).min(size as i32), (y + reach + 1).min(size as i32));
            let skip = (left - (x - reach)) as usize;
            for (row, y_there) in self.rows(size, corner, (left, right), (top, bottom)).zip(top..) {
                let marks = &self.marks[(y_there - (y - reach)) as usize * (2 * reach as usize + 1) + skip..];
                self.stale[row].iter_mut().zip(marks).for_each(|(stale, mark)| *stale |= mark);
            }
        }
        changed.clear();
        self.changed = changed;
    }

    /// Computes what is stale and what the moves see, layer by layer.
    fn compute(&mut self, weights: &Weights<B>, scene: &Scene) {
        let top = self.values.len() - 1;
        for &cell in scene.outputs.iter().filter(|&&cell| scene.index(cell, weights.size).is_some()) {
            let cell = self.cell(cell);
            want(&mut self.stale, &mut self.todo[top], cell, top);
        }
        let taps: [isize; 9] =
            std::array::from_fn(|tap| (tap as isize / 3 - 1) * self.stride as isize + tap as isize % 3 - 1);
        for l in (0..top).rev() {
            let (below, above) = self.todo.split_at_mut(l + 1);
            for &cell in &above[0] {
                for tap in taps {
                    want(&mut self.stale, &mut below[l], (cell as isize + tap) as usize, l);
                }
            }
        }
        for &cell in &self.todo[0] {
            let sums = &self.sums[cell as usize];
            self.values[0][cell as usize] =
                std::array::from_fn(|b| Eight(sums[b].0.map(|sum| sum as f32 * weights.unit)).relu());
        }
        for (l, layer) in weights.layers.iter().enumerate() {
            let (below, above) = self.values.split_at_mut(l + 1);
            let (below, above) = (&below[l], &mut above[0]);
            let todo = &self.todo[l + 1];
            match layer {
                // As many cells at a time as keep the vector registers busy.
                Layer::Plain(plain) if B <= 2 => plain.apply::<4>(below, above, &taps, todo),
                Layer::Plain(plain) if B <= 4 => plain.apply::<2>(below, above, &taps, todo),
                Layer::Plain(plain) => plain.apply::<1>(below, above, &taps, todo),
                Layer::Mobile(mobile) => {
                    let inside = &mut self.inside[l + 1];
                    for &cell in todo {
                        let cell = cell as usize;
                        for at in taps.map(|tap| (cell as isize + tap) as usize) {
                            if self.stale[at] >> (INSIDE + l + 1) & 1 != 0 {
                                self.stale[at] &= !(1 << (INSIDE + l + 1));
                                inside[at] = mobile.expand(&below[at]);
                            }
                        }
                        above[cell] = mobile.apply(&below[cell], inside, &taps, cell);
                    }
                }
            }
        }
        self.todo.iter_mut().for_each(Vec::clear);
    }
}

/// What becomes stale around a cell that changes: layer `l` sees it from up to `l + 1` cells away, and the layer above
/// has inside what that one has there, expanded.
fn marks(depth: usize) -> Vec<u64> {
    let reach = depth as i32;
    let cells = (-reach..=reach).flat_map(|y| (-reach..=reach).map(move |x| (x, y)));
    cells
        .map(|(x, y)| {
            let nearest = (x.abs().max(y.abs()).max(1) - 1) as usize;
            (nearest..depth).map(|l| 1 << l | 1 << (INSIDE + l + 1)).sum()
        })
        .collect()
}

/// Puts a cell on the list of a layer if it is stale there.
#[inline]
fn want(stale: &mut [u64], todo: &mut Vec<u32>, cell: usize, layer: usize) {
    if stale[cell] >> layer & 1 != 0 {
        stale[cell] &= !(1 << layer);
        todo.push(cell as u32);
    }
}

impl<const B: usize> Plain<B> {
    /// The layer at some cells.
    fn apply<const P: usize>(
        &self,
        below: &[Channels<B>],
        above: &mut [Channels<B>],
        taps: &[isize; 9],
        cells: &[u32],
    ) {
        for some in cells.chunks(P) {
            // Of too few the last is computed again and again.
            let cells: [usize; P] = std::array::from_fn(|p| some[p.min(some.len() - 1)] as usize);
            let sums = self.convolve(below, taps, cells);
            for (mut sums, cell) in sums.into_iter().zip(cells) {
                if self.residual {
                    add(&mut sums, &below[cell]);
                }
                above[cell] = sums.map(Eight::relu);
            }
        }
    }

    /// The layer at `P` cells, before its rectifier. Where nearly all the time goes: a weight is loaded once for all.
    #[inline(never)]
    #[allow(clippy::needless_range_loop)] // indices the compiler can see through: sums must stay in registers
    fn convolve<const P: usize>(
        &self,
        below: &[Channels<B>],
        taps: &[isize; 9],
        cells: [usize; P],
    ) -> [Channels<B>; P] {
        let mut sums = [self.bias; P];
        for (tap, rows) in taps.iter().zip(self.weight.chunks_exact(8 * B)) {
            let seen: [&Channels<B>; P] = cells.map(|cell| &below[(cell as isize + tap) as usize]);
            for (c, row) in rows.iter().enumerate() {
                for p in 0..P {
                    let value = seen[p][c / 8].0[c % 8];
                    for b in 0..B {
                        sums[p][b].add_product(value, &row[b]);
                    }
                }
            }
        }
        sums
    }
}

impl<const B: usize> Mobile<B> {
    /// The wide channels of a cell, after their rectifier.
    fn expand(&self, below: &Channels<B>) -> Wide<B> {
        let mut sums = self.expand_bias;
        for (c, weights) in self.expand.iter().enumerate() {
            let value = below[c / 8].0[c % 8];
            for (sum, weight) in sums.as_flattened_mut().iter_mut().zip(weights.as_flattened()) {
                sum.add_product(value, weight);
            }
        }
        sums.map(|half| half.map(Eight::relu))
    }

    /// The layer at a cell whose surroundings are expanded.
    fn apply(&self, below: &Channels<B>, inside: &[Wide<B>], taps: &[isize; 9], cell: usize) -> Channels<B> {
        let mut wide = self.depthwise_bias;
        for (tap, weights) in taps.iter().zip(&self.depthwise) {
            let seen = inside[(cell as isize + tap) as usize].as_flattened();
            let sums = wide.as_flattened_mut().iter_mut();
            for ((sum, values), weights) in sums.zip(seen).zip(weights.as_flattened()) {
                sum.add_products(values, weights);
            }
        }
        let mut sums = self.project_bias;
        for (half, columns) in wide.iter().zip(&self.project) {
            for (c, column) in columns.iter().enumerate() {
                let value = half[c / 8].0[c % 8].max(0.0);
                for (sum, weight) in sums.iter_mut().zip(column) {
                    sum.add_product(value, weight);
                }
            }
        }
        add(&mut sums, below);
        sums
    }
}

/// Adds channel by channel.
fn add<const B: usize>(sums: &mut Channels<B>, more: &Channels<B>) {
    for (sum, more) in sums.iter_mut().zip(more) {
        sum.0.iter_mut().zip(&more.0).for_each(|(sum, more)| *sum += more);
    }
}

/// The sum of products, eight partial sums first.
fn dot<const B: usize>(a: &Channels<B>, b: &Channels<B>) -> f32 {
    let mut sums = Eight::ZERO;
    for (a, b) in a.iter().zip(b) {
        sums.add_products(a, b);
    }
    let [a, b, c, d, e, f, g, h] = sums.0;
    ((a + e) + (b + f)) + ((c + g) + (d + h))
}
