//! Names as a script must spell them.

/// Flink's reserved words, in lower case and in order.
const RESERVED: &str = "abs all allocate allow alter and any are array array_agg array_max_cardinality as asensitive \
    asymmetric at atomic authorization avg begin begin_frame begin_partition between bigint binary bit blob boolean \
    both by bytes call called cardinality cascaded case cast catalogs ceil ceiling changelog_mode char \
    char_length character character_length check classifier clob close coalesce collate collect column columns comment \
    commit condition connect constraint contains convert corr corresponding count covar_pop covar_samp create cross \
    cube cume_dist current current_catalog current_date current_default_transform_group current_path current_role \
    current_row current_schema current_time current_timestamp current_transform_group_for_type current_user cursor \
    cycle date databases datetime day deallocate dec decimal declare default define delete dense_rank deref describe \
    deterministic disallow disconnect distinct distribution dot double drop dynamic each element else empty end \
    end-exec end_frame end_partition equals escape every except exec execute exists exp explain extend external \
    extract false fetch filter first_value float floor for foreign frame_row free friday from full function functions \
    fusion get global grant group grouping groups having hold hour identity ilike import in indicator initial inner \
    inout insensitive insert int integer intersect intersection interval into is jars job jobs join json_array \
    json_arrayagg json_execution_plan json_exists json_object json_objectagg json_query json_value lag language large \
    last_value lateral lead leading left like like_regex limit ln local localtime localtimestamp lower match \
    match_number match_recognize matches max measures member merge method min minute mod modifies modify module \
    modules monday month more multiset national natural nchar nclob new next no none normalize not nth_value ntile \
    null nullif numeric occurrences_regex octet_length of offset old omit on one only open or order ordinal out outer \
    over overlaps overlay overwriting parameter partition partitioned partitions pattern per percent percentile_cont \
    percentile_disc percent_rank period permute pivot plan_advice plan portion position position_regex power precedes \
    precision prepare prev primary procedure qualify quarter range rank raw reads real recursive ref references \
    referencing regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy release \
    remove rename reset result return returns revoke right rlike rollback rollup row row_number rows running safe_cast \
    safe_offset safe_ordinal saturday savepoint scala scope scroll search second seek select sensitive session_user set \
    minus show similar skip smallint some specific specifictype sql sqlexception sqlstate sqlwarning sqrt start static \
    statement stddev_pop stddev_samp stop stream string submultiset subset substring substring_regex succeeds sum \
    sunday symmetric system system_time system_user table tables tablesample then thursday time timestamp \
    timezone_hour timezone_minute tinyint to trailing translate translate_regex translation treat trigger trim \
    trim_array true truncate tuesday uescape unique unknown unnest unpivot update upper upsert use user using value \
    values value_of var_pop var_samp varbinary varchar varying versioning views watermark wednesday week when whenever \
    where width_bucket window with within without year";

/// The name, in backquotes where a script needs them.
pub fn quoted(name: &str) -> String {
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && name.bytes().next().is_some_and(|b| !b.is_ascii_digit())
        && !is_reserved(name);
    if plain { name.to_string() } else { format!("`{}`", name.replace('`', "``")) }
}

/// Whether Flink keeps the word for itself.
pub fn is_reserved(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    RESERVED.split_ascii_whitespace().any(|word| word == name)
}

/// A text as a string literal.
pub(crate) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A plain name made from any text: letters, digits and underscores.
pub(crate) fn plain(text: &str) -> String {
    let mut name = String::new();
    for c in text.chars() {
        if c.is_alphanumeric() {
            name.extend(c.to_lowercase());
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
    }
    name.trim_end_matches('_').to_string()
}

/// The name, or the name with the first number that no other has.
pub(crate) fn unused(name: &str, taken: impl Fn(&str) -> bool) -> String {
    if !taken(name) {
        return name.to_string();
    }
    (2..).map(|number| format!("{name}_{number}")).find(|name| !taken(name)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_need_it_get_backquotes() {
        assert_eq!(["a", "user_id", "Max_1"].map(quoted), ["a", "user_id", "Max_1"]);
        assert_eq!(
            ["time", "User", "1st", "user id", "a`b", "größe", ""].map(quoted),
            ["`time`", "`User`", "`1st`", "`user id`", "`a``b`", "`größe`", "``"]
        );
    }

    #[test]
    fn names_are_made_plain_and_unique() {
        assert_eq!(plain("avg(a * b)"), "avg_a_b");
        assert_eq!(unused("n", |name| ["n", "n_2"].contains(&name)), "n_3");
    }
}
