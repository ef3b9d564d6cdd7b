//! The little linear algebra that a regression needs: symmetric positive matrices of at most some twenty rows.

/// A square matrix, row by row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Matrix {
    n: usize,
    /// `n * n` entries; entry (i, j) is at `i * n + j`.
    entries: Vec<f64>,
}

impl Matrix {
    /// So much in the diagonal.
    pub fn diagonal(n: usize, value: f64) -> Matrix {
        let mut entries = vec![0.0; n * n];
        for i in 0..n {
            entries[i * n + i] = value;
        }
        Matrix { n, entries }
    }

    /// Adds `factor * v v'`.
    pub fn add_outer(&mut self, v: &[f64], factor: f64) {
        for (row, a) in self.entries.chunks_exact_mut(self.n).zip(v) {
            for (entry, b) in row.iter_mut().zip(v) {
                *entry += factor * a * b;
            }
        }
    }

    /// L with L L' = self, for a positive matrix.
    pub fn cholesky(&self) -> Factor {
        let n = self.n;
        let mut lower = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let sum: f64 = (0..j).map(|k| lower[i * n + k] * lower[j * n + k]).sum();
                let rest = self.entries[i * n + j] - sum;
                // Rounding may leave a little less than nothing in the diagonal.
                lower[i * n + j] = if i == j { rest.max(1e-300).sqrt() } else { rest / lower[j * n + j] };
            }
        }
        Factor { n, lower }
    }
}

/// The lower triangle L of a positive matrix L L'.
pub(crate) struct Factor {
    n: usize,
    lower: Vec<f64>,
}

impl Factor {
    /// x with L x = b.
    pub fn solve_lower(&self, b: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; self.n];
        for i in 0..self.n {
            let row = &self.lower[i * self.n..];
            let sum: f64 = (0..i).map(|k| row[k] * x[k]).sum();
            x[i] = (b[i] - sum) / row[i];
        }
        x
    }

    /// x with L' x = b.
    pub fn solve_upper(&self, b: &[f64]) -> Vec<f64> {
        let n = self.n;
        let mut x = vec![0.0; n];
        for i in (0..n).rev() {
            let sum: f64 = (i + 1..n).map(|k| self.lower[k * n + i] * x[k]).sum();
            x[i] = (b[i] - sum) / self.lower[i * n + i];
        }
        x
    }

    /// x with L L' x = b.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        self.solve_upper(&self.solve_lower(b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_are_solved() {
        let mut matrix = Matrix::diagonal(3, 2.0);
        matrix.add_outer(&[1.0, -2.0, 0.5], 1.0);
        matrix.add_outer(&[0.3, 0.1, 4.0], 0.7);
        let x = [1.0, -3.0, 2.0];
        let b: Vec<f64> =
            matrix.entries.chunks(3).map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect();
        for (got, expected) in matrix.cholesky().solve(&b).iter().zip(x) {
            assert!((got - expected).abs() < 1e-12);
        }
    }
}
