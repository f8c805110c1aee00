//! `ENCODE` and `DECODE`: texts as bytes of a character set and back.

use crate::definition::{BuiltIn, Nulls};
use crate::error::Result;
use crate::kernel::rows::{Bytes, Text, fail, map2, text2};
use crate::signature::{Kind, Returns, Signature};

#[derive(Clone, Copy)]
enum Charset {
    Ascii,
    Latin1,
    Utf8,
    Utf16 { little: bool, mark: bool },
}

impl Charset {
    fn of(name: &str) -> Result<Self> {
        Ok(match name.to_ascii_uppercase().as_str() {
            "US-ASCII" => Self::Ascii,
            "ISO-8859-1" => Self::Latin1,
            "UTF-8" => Self::Utf8,
            "UTF-16BE" => Self::Utf16 {
                little: false,
                mark: false,
            },
            "UTF-16LE" => Self::Utf16 {
                little: true,
                mark: false,
            },
            "UTF-16" => Self::Utf16 {
                little: false,
                mark: true,
            },
            _ => {
                return fail(format!(
                    "character set '{name}' is none of US-ASCII, ISO-8859-1, UTF-8, UTF-16, UTF-16BE and UTF-16LE"
                ));
            }
        })
    }

    fn encode(self, text: &str) -> Vec<u8> {
        let narrow = |limit: u32| {
            text.chars()
                .map(|c| if (c as u32) < limit { c as u8 } else { b'?' })
                .collect()
        };
        match self {
            Self::Ascii => narrow(128),
            Self::Latin1 => narrow(256),
            Self::Utf8 => text.as_bytes().to_vec(),
            Self::Utf16 { little, mark } => {
                let units = mark
                    .then_some(0xFEFF)
                    .into_iter()
                    .chain(text.encode_utf16());
                units
                    .flat_map(|u| {
                        if little {
                            u.to_le_bytes()
                        } else {
                            u.to_be_bytes()
                        }
                    })
                    .collect()
            }
        }
    }

    fn decode(self, bytes: &[u8], out: &mut String) {
        match self {
            Self::Ascii => out.extend(bytes.iter().map(|b| {
                if b.is_ascii() {
                    char::from(*b)
                } else {
                    char::REPLACEMENT_CHARACTER
                }
            })),
            Self::Latin1 => out.extend(bytes.iter().map(|b| char::from(*b))),
            Self::Utf8 => out.push_str(&String::from_utf8_lossy(bytes)),
            Self::Utf16 { little, mark } => {
                let little = little || (mark && bytes.starts_with(&[0xFF, 0xFE]));
                let units = bytes.chunks_exact(2).map(|pair| {
                    let pair = [pair[0], pair[1]];
                    if little {
                        u16::from_le_bytes(pair)
                    } else {
                        u16::from_be_bytes(pair)
                    }
                });
                let units = units.skip_while(|u| mark && *u == 0xFEFF);
                out.extend(
                    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)),
                );
            }
        }
    }
}

pub(super) const ENCODE: BuiltIn = BuiltIn::new(
    "ENCODE",
    "The bytes of a text in a character set.",
    &[Signature::new(&[Kind::Text, Kind::Text], Returns::Bytes)],
    |args| {
        Ok(map2::<Text, Text, Vec<u8>>(args.result, |text, charset| {
            Ok(Some(Charset::of(charset)?.encode(text)))
        }))
    },
)
.nulls(Nulls::Propagate);

pub(super) const DECODE: BuiltIn = BuiltIn::new(
    "DECODE",
    "The text of bytes in a character set.",
    &[Signature::new(&[Kind::Binary, Kind::Text], Returns::String)],
    |_| {
        Ok(text2::<Bytes, Text>(|bytes, charset, out| {
            Charset::of(charset)?.decode(bytes, out);
            Ok(true)
        }))
    },
)
.nulls(Nulls::Propagate);
