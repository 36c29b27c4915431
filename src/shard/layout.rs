//! Who feeds whom in a job: splits branches, branches and stages the stages behind them.

/// One input of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port {
    pub stage: usize,
    pub from: Producer,
}

/// What sends rows through a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Producer {
    /// Reads splits. One message a block, from the shard that read it.
    Branch(usize),
    /// One message a block from every shard.
    Stage(usize),
}

/// The same for all shards of a job. Ports, stages, branches and splits are numbered from 0.
#[derive(Debug, Clone)]
pub struct Layout {
    ports: Vec<Port>,
    stages: Vec<Inputs>,
    /// By branch and by stage: the ports that it feeds.
    fed_by_branch: Vec<Vec<usize>>,
    fed_by_stage: Vec<Vec<usize>>,
    /// By split.
    branches: Vec<usize>,
}

/// What reaches a stage.
#[derive(Debug, Clone, Default)]
struct Inputs {
    ports: Vec<usize>,
    /// By branch: whether its watermark reaches the stage, perhaps through others, and how many milliseconds it is then
    /// put back.
    branches: Vec<Option<i64>>,
}

impl Layout {
    /// `delays`: by stage, how many milliseconds the watermark that it hands on stays behind its own. `splits`: the branch
    /// of each split. A stage comes after those that feed it. A branch or stage may feed any number of ports, also of one
    /// stage.
    ///
    /// # Panics
    /// If a port names a stage or branch that is not there, or feeds a stage from itself or from a later one.
    pub fn new(ports: &[Port], delays: &[i64], branches: usize, splits: Vec<usize>) -> Self {
        let stages = delays.len();
        let mut layout = Layout {
            ports: ports.to_vec(),
            stages: vec![Inputs { ports: Vec::new(), branches: vec![None; branches] }; stages],
            fed_by_branch: vec![Vec::new(); branches],
            fed_by_stage: vec![Vec::new(); stages],
            branches: splits,
        };
        for (number, port) in ports.iter().enumerate() {
            layout.stages[port.stage].ports.push(number);
            match port.from {
                Producer::Branch(branch) => layout.fed_by_branch[branch].push(number),
                Producer::Stage(stage) => layout.fed_by_stage[stage].push(number),
            }
        }
        for stage in 0..stages {
            for port in layout.stages[stage].ports.clone() {
                layout.add_branches(stage, ports[port].from, delays);
            }
        }
        layout
    }

    fn add_branches(&mut self, stage: usize, from: Producer, delays: &[i64]) {
        match from {
            Producer::Branch(branch) => {
                self.stages[stage].branches[branch].get_or_insert(0);
            }
            Producer::Stage(feeder) => {
                assert!(feeder < stage, "stage {feeder} feeds stage {stage}, which comes before it");
                let reached = self.stages[feeder].branches.clone();
                let reached = reached.into_iter().map(|delay| Some(delay?.saturating_add(delays[feeder])));
                let known = &mut self.stages[stage].branches;
                known.iter_mut().zip(reached).for_each(|(known, reached)| *known = (*known).max(reached));
            }
        }
    }

    pub fn stages(&self) -> usize {
        self.stages.len()
    }
    pub fn ports(&self) -> usize {
        self.ports.len()
    }
    pub fn splits(&self) -> usize {
        self.branches.len()
    }
    pub fn port(&self, port: usize) -> Port {
        self.ports[port]
    }
    /// The branch that reads a split.
    pub fn branch_of(&self, split: usize) -> usize {
        self.branches[split]
    }
    /// The inputs of a stage.
    pub fn ports_of(&self, stage: usize) -> &[usize] {
        &self.stages[stage].ports
    }
    /// The ports that a branch or stage feeds.
    pub fn fed_by(&self, from: Producer) -> &[usize] {
        match from {
            Producer::Branch(branch) => &self.fed_by_branch[branch],
            Producer::Stage(stage) => &self.fed_by_stage[stage],
        }
    }
    /// Whether the watermark of the split reaches the stage.
    pub fn reaches(&self, split: usize, stage: usize) -> bool {
        self.delay(split, stage).is_some()
    }
    /// How many milliseconds the watermark of the split is put back where it reaches the stage; `None`: it does not.
    pub fn delay(&self, split: usize, stage: usize) -> Option<i64> {
        self.stages[stage].branches[self.branches[split]]
    }
    /// The most milliseconds that any watermark is put back on its way to a stage.
    pub fn delay_max(&self) -> i64 {
        self.stages.iter().flat_map(|stage| &stage.branches).filter_map(|delay| *delay).max().unwrap_or(0)
    }
    /// The stage has rows of splits among its inputs, not of other stages alone.
    pub fn is_first(&self, stage: usize) -> bool {
        self.ports_of(stage).iter().any(|&port| matches!(self.ports[port].from, Producer::Branch(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_may_feed_several_stages_and_reaches_those_behind_them() {
        let port = |stage, from| Port { stage, from };
        let ports = [
            port(0, Producer::Branch(0)),
            port(1, Producer::Branch(0)),
            port(2, Producer::Stage(0)),
            port(2, Producer::Branch(1)),
        ];
        let layout = Layout::new(&ports, &[5, 0, 0], 2, vec![0, 1, 1]);
        assert_eq!(layout.fed_by(Producer::Branch(0)), [0, 1]);
        assert_eq!(layout.fed_by(Producer::Stage(0)), [2]);
        assert_eq!(layout.ports_of(2), [2, 3]);
        let reached = |split| [0, 1, 2].map(|stage| layout.reaches(split, stage));
        assert_eq!(reached(0), [true, true, true]);
        assert_eq!(reached(2), [false, false, true]);
        assert_eq!([0, 2].map(|split| layout.delay(split, 2)), [Some(5), Some(0)]);
        assert!(layout.is_first(2));
    }
}
