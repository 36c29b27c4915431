//! PARSE_URL: the parts of a URL, as `java.net.URL` cuts it.

use arrow::array::ArrayRef;

use super::value::{Read, Value, build_texts, texts};
use crate::error::{Error, Result};

/// Protocols that Java has a handler for; URLs of others are none.
const PROTOCOLS: &[&str] = &["http", "https", "ftp", "file", "jar", "mailto", "jmod", "jrt"];

/// PARSE_URL(url, part[, key]); NULL for what is no URL or no part of it.
pub(super) fn parse_url(values: &[Value], count: usize) -> Result<ArrayRef> {
    let [url, part, key @ ..] = values else {
        return Err(Error::internal("PARSE_URL lacks an argument"));
    };
    let (url, part) = (texts(url)?, texts(part)?);
    let key = key.first().map(texts).transpose()?;
    build_texts(count, |row| {
        let (Some(url), Some(part)) = (url.read(row).and_then(Url::parse), part.read(row)) else {
            return Ok(None);
        };
        Ok(match &key {
            None => url.part(part),
            Some(key) => key.read(row).filter(|_| part == "QUERY").and_then(|key| value_of(url.query?, key)),
        })
    })
}

/// The value of a key in a query.
fn value_of(query: &str, key: &str) -> Option<String> {
    if key.is_empty() {
        return None;
    }
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(name, _)| *name == key).map(|(_, value)| value.to_string())
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Url<'a> {
    protocol: String,
    /// What stands between `//` and the path.
    authority: Option<&'a str>,
    host: &'a str,
    path: &'a str,
    query: Option<&'a str>,
    fragment: Option<&'a str>,
}

impl<'a> Url<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let text = text.trim_matches(|c: char| c <= ' ');
        let starts = |prefix: &str| text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
        let text = if starts("url:") { &text[4..] } else { text };
        let (protocol, rest) = text.split_once(':')?;
        let protocol = protocol.to_ascii_lowercase();
        if !PROTOCOLS.contains(&protocol.as_str()) {
            return None;
        }
        let (rest, fragment) = match rest.split_once('#') {
            Some((rest, fragment)) => (rest, Some(fragment)),
            None => (rest, None),
        };
        let mut url = Url { protocol, fragment, ..Url::default() };
        if matches!(url.protocol.as_str(), "jar" | "mailto") {
            url.path = rest;
            return Some(url);
        }
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (rest, None),
        };
        url.query = query;
        url.path = rest;
        if let Some(rest) = rest.strip_prefix("//") {
            let end = rest.find('/').unwrap_or(rest.len());
            let (authority, path) = rest.split_at(end);
            url.authority = Some(authority);
            url.host = host(authority)?;
            url.path = path;
        }
        Some(url)
    }

    /// A part by its name in upper case.
    fn part(&self, name: &str) -> Option<String> {
        Some(match name {
            "HOST" => self.host.to_string(),
            "PATH" => self.path.to_string(),
            "QUERY" => self.query?.to_string(),
            "REF" => self.fragment?.to_string(),
            "PROTOCOL" => self.protocol.clone(),
            "FILE" => match self.query {
                Some(query) => format!("{}?{query}", self.path),
                None => self.path.to_string(),
            },
            "AUTHORITY" => self.authority?.to_string(),
            "USERINFO" => self.authority?.rsplit_once('@')?.0.to_string(),
            _ => return None,
        })
    }
}

/// The host of an authority, without user and port; `None` where the port is no number.
fn host(authority: &str) -> Option<&str> {
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (host, port) = if host.starts_with('[') {
        let end = host.find(']')? + 1;
        match &host[end..] {
            "" => (&host[..end], ""),
            rest => (&host[..end], rest.strip_prefix(':')?),
        }
    } else {
        host.split_once(':').unwrap_or((host, ""))
    };
    let number = port.is_empty() || port.parse::<u32>().is_ok_and(|port| i32::try_from(port).is_ok());
    number.then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(url: &str, name: &str) -> Option<String> {
        Url::parse(url)?.part(name)
    }

    #[test]
    fn parts_are_those_of_java() {
        let url = "https://u:p@h.example:8080/a/b.html?q=1&r=%20x#frag";
        for (name, value) in [
            ("HOST", "h.example"),
            ("PATH", "/a/b.html"),
            ("QUERY", "q=1&r=%20x"),
            ("REF", "frag"),
            ("PROTOCOL", "https"),
            ("FILE", "/a/b.html?q=1&r=%20x"),
            ("AUTHORITY", "u:p@h.example:8080"),
            ("USERINFO", "u:p"),
        ] {
            assert_eq!(part(url, name).as_deref(), Some(value), "{name}");
        }
        assert_eq!((part(url, "host"), part("http://a.b/c", "USERINFO")), (None, None));
    }

    #[test]
    fn odd_urls_are_read_as_java_reads_them() {
        for (url, name, value) in [
            ("http://x", "PATH", Some("")),
            ("http://x?", "QUERY", Some("")),
            ("file:///a/b", "HOST", Some("")),
            ("mailto:a@b", "PATH", Some("a@b")),
            ("foo://a/b", "HOST", None),
            ("jar:file:/a!/b", "PATH", Some("file:/a!/b")),
            ("HTTP://A.b:99/x", "PROTOCOL", Some("http")),
            ("http:/x/y", "PATH", Some("/x/y")),
            ("http://[::1]:80/x", "HOST", Some("[::1]")),
            ("http://a.b:x/", "HOST", None),
            ("  http://a.b/c d ", "PATH", Some("/c d")),
            ("url:http://a.b/c", "HOST", Some("a.b")),
            ("no url", "HOST", None),
        ] {
            assert_eq!(part(url, name).as_deref(), value, "{url}");
        }
    }

    #[test]
    fn keys_of_a_query_are_exact() {
        assert_eq!(value_of("xa=1&a=2", "a").as_deref(), Some("2"));
        assert_eq!(value_of("a=", "a").as_deref(), Some(""));
        assert_eq!((value_of("a", "a"), value_of("a=1", "")), (None, None));
    }
}
