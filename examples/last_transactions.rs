//! The last ten transactions of each account, looked at every five.
//!
//! ```sh
//! cargo run --example last_transactions
//! ```
//!
//! No time is needed here. A global window holds all transactions of an account, a trigger fires every five, and an
//! evictor keeps the last ten: older ones are dropped, so that memory stays bounded. Flink has this combination as
//! `countWindow(10, 5)`, and so have we: `count_window_sliding(10, 5)`.
//!
//! ```text
//! account  transactions     mean  largest
//! DE-1      1 to  5        22.50    30.00
//! DE-1      1 to 10        21.25    32.50
//! DE-1      6 to 15       115.00   950.00  look at this
//! DE-1     11 to 20       115.00   950.00  look at this
//! NO-2      1 to  5        22.50    30.00
//! ```

use serde::{Deserialize, Serialize};
use transom::api::prelude::*;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Transaction {
    account: String,
    number: u32,
    cents: i64,
}

#[derive(Debug, Clone)]
struct Look {
    account: String,
    first: u32,
    last: u32,
    mean_cents: i64,
    largest_cents: i64,
}

/// Twenty of one account, seven of another: the last two of these wait for three more, which never come.
fn transactions() -> Vec<Transaction> {
    let of = |account: &str, number: u32| {
        let cents = if number == 13 { 95_000 } else { 1_000 + i64::from(number * 7 % 10) * 250 };
        Transaction { account: account.to_string(), number, cents }
    };
    let mut transactions: Vec<Transaction> = (1..=20).map(|number| of("DE-1", number)).collect();
    transactions.extend((1..=7).map(|number| of("NO-2", number)));
    transactions
}

fn main() -> Result<()> {
    let environment = StreamExecutionEnvironment::new();
    let looks = environment
        .from_collection(transactions())
        .key_by(|transaction| transaction.account.clone())
        .window(GlobalWindows::create())
        .trigger(CountTrigger::of(5))
        .evictor(CountEvictor::of(10))
        .apply(|account, _context, transactions, out| {
            let cents = transactions.iter().map(|transaction| transaction.cents);
            if let ([first, ..], [.., last]) = (transactions, transactions) {
                out.collect(Look {
                    account: account.clone(),
                    first: first.number,
                    last: last.number,
                    mean_cents: cents.clone().sum::<i64>() / transactions.len() as i64,
                    largest_cents: cents.max().unwrap_or_default(),
                });
            }
            Ok(())
        })
        .collect();
    environment.execute()?;

    println!("{:<7}  {:<12}  {:>7}  {:>7}", "account", "transactions", "mean", "largest");
    for look in looks.take() {
        let (mean, largest) = (look.mean_cents as f64 / 100.0, look.largest_cents as f64 / 100.0);
        let strange = if largest > 5.0 * mean { "  look at this" } else { "" };
        let numbers = format!("{:>2} to {:>2}", look.first, look.last);
        println!("{:<7}  {numbers:<12}  {mean:>7.2}  {largest:>7.2}{strange}", look.account);
    }
    Ok(())
}
