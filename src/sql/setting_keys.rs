//! The keys of `SET`: those that have an effect, and those that are accepted without one.

use super::lint::{Lint, Rule};
use crate::error::{Place, nearest};

/// Keys that change what the engine does, or that it checks.
const EFFECTIVE: &[&str] = &[
    "execution.checkpointing.dir",
    "execution.checkpointing.interval",
    "execution.checkpointing.num-retained",
    "execution.checkpointing.savepoint-dir",
    "execution.runtime-mode",
    "pipeline.auto-watermark-interval",
    "pipeline.max-parallelism",
    "state.checkpoints.dir",
    "state.checkpoints.num-retained",
    "state.savepoints.dir",
    "table.exec.emit.allow-lateness",
    "table.exec.emit.early-fire.delay",
    "table.exec.emit.early-fire.enabled",
    "table.exec.emit.late-fire.delay",
    "table.exec.emit.late-fire.enabled",
    "table.exec.legacy-cast-behaviour",
    "table.exec.sink.not-null-enforcer",
    "table.exec.sink.type-length-enforcer",
    "table.local-time-zone",
    "table.sql-dialect",
    "transom.late-rows.path",
    "transom.quarantine.max-rows",
    "transom.quarantine.path",
];

/// Keys of Flink that mean nothing on one machine, or that only tune how Flink gets the same rows.
const IGNORED: &[&str] = &[
    "execution.attached",
    "execution.batch-shuffle-mode",
    "execution.buffer-timeout",
    "execution.buffer-timeout.enabled",
    "execution.buffer-timeout.interval",
    "execution.shutdown-on-attached-exit",
    "execution.target",
    "parallelism.default",
    "pipeline.auto-generate-uids",
    "pipeline.auto-type-registration",
    "pipeline.cached-files",
    "pipeline.classpaths",
    "pipeline.closure-cleaner-level",
    "pipeline.force-avro",
    "pipeline.force-kryo",
    "pipeline.generic-types",
    "pipeline.global-job-parameters",
    "pipeline.jars",
    "pipeline.jobvertex-parallelism-overrides",
    "pipeline.name",
    "pipeline.object-reuse",
    "pipeline.operator-chaining",
    "pipeline.operator-chaining.enabled",
    "pipeline.vertex-description-mode",
    "pipeline.vertex-name-include-index-prefix",
    "table.display.max-column-width",
    "table.dml-sync",
    "table.dynamic-table-options.enabled",
    "table.exec.deduplicate.insert-update-after-sensitive-enabled",
    "table.exec.deduplicate.mini-batch.compact-changes-enabled",
    "table.exec.disabled-operators",
    "table.exec.interval-join.min-cleanup-interval",
    "table.exec.legacy-transformation-uids",
    "table.exec.local-hash-agg.adaptive.enabled",
    "table.exec.mini-batch.allow-latency",
    "table.exec.mini-batch.enabled",
    "table.exec.mini-batch.size",
    "table.exec.operator-fusion-codegen.enabled",
    "table.exec.rank.topn-cache-size",
    "table.exec.resource.default-parallelism",
    "table.exec.simplify-operator-name-enabled",
    "table.exec.sink.keyed-shuffle",
    "table.exec.sink.upsert-materialize",
    "table.exec.sort.async-merge-enabled",
    "table.exec.source.cdc-events-duplicate",
    "table.exec.source.idle-timeout",
    "table.exec.spill-compression.block-size",
    "table.exec.spill-compression.enabled",
    "table.exec.state.ttl",
    "table.exec.uid.format",
    "table.exec.uid.generation",
    "table.exec.unbounded-over.version",
    "table.exec.window-agg.buffer-size-limit",
    "table.explain.schema-json-serializer",
    "table.generated-code.max-length",
    "table.generated-code.max-members",
    "table.optimizer.agg-phase-strategy",
    "table.optimizer.bushy-join-reorder-threshold",
    "table.optimizer.distinct-agg.split.bucket-num",
    "table.optimizer.distinct-agg.split.enabled",
    "table.optimizer.dynamic-filtering.enabled",
    "table.optimizer.incremental-agg-enabled",
    "table.optimizer.join-reorder-enabled",
    "table.optimizer.join.broadcast-threshold",
    "table.optimizer.multi-join.enabled",
    "table.optimizer.multiple-input-enabled",
    "table.optimizer.non-deterministic-update.strategy",
    "table.optimizer.reuse-optimize-block-with-digest-enabled",
    "table.optimizer.reuse-sink-enabled",
    "table.optimizer.reuse-source-enabled",
    "table.optimizer.reuse-sub-plan-enabled",
    "table.optimizer.source.predicate-pushdown-enabled",
    "table.optimizer.source.report-statistics-enabled",
    "table.optimizer.sql2rel.project-merge.enabled",
    "table.optimizer.union-all-as-breakpoint-enabled",
    "table.plan.compile.catalog-objects",
    "table.plan.force-recompile",
    "table.plan.restore.catalog-objects",
    "table.resources.download-dir",
    "table.rtas-ctas.atomicity-enabled",
];

/// Families of keys about clusters, checkpoints and the client: all of them are accepted.
const IGNORED_FAMILIES: &[&str] = &[
    "akka.",
    "blob.",
    "classloader.",
    "client.",
    "cluster.",
    "env.",
    "execution.checkpointing.",
    "execution.savepoint.",
    "execution.state-recovery.",
    "fs.",
    "heartbeat.",
    "high-availability.",
    "io.",
    "jobmanager.",
    "kubernetes.",
    "metrics.",
    "pekko.",
    "python.",
    "queryable-state.",
    "rest.",
    "restart-strategy",
    "security.",
    "slot.",
    "slotmanager.",
    "sql-client.",
    "sql-gateway.",
    "state.",
    "table.exec.async-",
    "task.",
    "taskmanager.",
    "web.",
    "yarn.",
    "zookeeper.",
];

/// How a shell shows the rows of a SELECT, as Flink's client.
pub const RESULT_MODE: &str = "sql-client.execution.result-mode";
/// What it was called before Flink 1.13.
pub(super) const RESULT_MODE_BEFORE: &str = "execution.result-mode";

/// The names of the settings that have an effect, and of those that are accepted without one.
pub fn setting_names() -> impl Iterator<Item = &'static str> {
    EFFECTIVE.iter().chain(IGNORED).copied().chain([RESULT_MODE])
}

/// Whether a key changes what the engine does, or is checked by it.
pub(super) fn has_effect(key: &str) -> bool {
    EFFECTIVE.contains(&key)
}

/// Whether a key is one of Flink's or of ours.
pub(super) fn is_known(key: &str) -> bool {
    let listed = [EFFECTIVE, IGNORED].into_iter().any(|keys| keys.contains(&key));
    listed || key == RESULT_MODE_BEFORE || IGNORED_FAMILIES.iter().any(|family| key.starts_with(family))
}

/// The finding of a key that nobody knows, with the one that may be meant.
pub(super) fn unknown_setting(key: &str, place: Option<Place>) -> Lint {
    let message = format!("'{key}' is not a setting that Transom knows; it has no effect");
    let remedy = match nearest(key, EFFECTIVE.iter().chain(IGNORED).copied()) {
        Some(near) => format!("did you mean '{near}'?"),
        None => "leave it out".to_string(),
    };
    Lint::new(Rule::UnknownSetting, place, message, remedy)
}
