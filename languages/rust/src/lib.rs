// SPDX-License-Identifier: LGPL-2.1-or-later
//! Events of a Rust program, in the same trace as those of the kernel.
//!
//! ```no_run
//! fn check_out(id: u32, price: f64, customer: &str) {
//!     tracetoolkit::scope!(shop, checkout); // from here to the end of the block
//!     tracetoolkit::event!(shop, order_paid, id, price, customer);
//! }
//! ```
//!
//! There is nothing to declare. A field is `name` or `name = expression`; its type is that of the expression: integers,
//! floats, `bool`, `char`, pointers, `str`, `String`, `[u8]`, `Vec<u8>` and references to them. While no recording selects an
//! event, its expressions are not evaluated, and it costs two loads and a branch. (The compiler sees each expression twice, so
//! one that consumes a variable needs a reference.)
//!
//! An event belongs to the thread that records it. A scope begins and ends in one thread, so its guard is not `Send`, and a
//! future that holds one across an `await` cannot move to another thread. On a runtime with one thread the compiler does
//! not see such a scope, and the time in it is that of all tasks: use requests there, with a `request_handoff!` before the
//! `await` and a `request_begin!` after it.

use std::ffi::{CStr, CString};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::os::raw::{c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

const MAX_FIELDS: usize = 16;
const MAX_TEXT_BYTES: usize = 1025; // libtracer keeps one less, and marks what it cut
const WORD: usize = 8;

#[link(name = "tracer")]
extern "C" {
    fn trace_dynamic_declare(
        provider: *const c_char,
        name: *const c_char,
        role: u32,
        fields: *const c_char,
        file: *const c_char,
        line: u32,
        ret_event: *mut *mut c_void,
    ) -> c_int;
    fn trace_dynamic_flag(event: *const c_void) -> *const AtomicU8;
    fn trace_dynamic_record(event: *mut c_void, values: *const c_void, bytes: usize);
    fn trace_dynamic_rules() -> *const c_char;
}

/// A value on its way to libtracer.
pub enum Packed<'a> {
    Word(u64),
    Text(&'a [u8]),
}

/// A type that a field can have. `TYPE` is a type of `<trace/dynamic.h>`.
pub trait Value {
    const TYPE: &'static str;
    fn packed(&self) -> Packed<'_>;
}

macro_rules! values {
    ($($kind:ty => $name:literal, $value:ident => $packed:expr;)*) => {
        $(impl Value for $kind {
            const TYPE: &'static str = $name;
            #[inline]
            fn packed(&self) -> Packed<'_> {
                let $value = self;
                $packed
            }
        })*
    };
}

values! {
    i8 => "i8", v => Packed::Word(*v as u64); i16 => "i16", v => Packed::Word(*v as u64);
    i32 => "i32", v => Packed::Word(*v as u64); i64 => "i64", v => Packed::Word(*v as u64);
    u8 => "u8", v => Packed::Word(*v as u64); u16 => "u16", v => Packed::Word(*v as u64);
    u32 => "u32", v => Packed::Word(*v as u64); u64 => "u64", v => Packed::Word(*v);
    isize => "i64", v => Packed::Word(*v as u64); usize => "u64", v => Packed::Word(*v as u64);
    bool => "bool", v => Packed::Word(*v as u64); char => "u32", v => Packed::Word(*v as u64);
    f32 => "f32", v => Packed::Word(f64::from(*v).to_bits()); f64 => "f64", v => Packed::Word(v.to_bits());
    str => "text", v => Packed::Text(v.as_bytes()); String => "text", v => Packed::Text(v.as_bytes());
    [u8] => "bytes", v => Packed::Text(v); Vec<u8> => "bytes", v => Packed::Text(v);
}

impl<T> Value for *const T {
    const TYPE: &'static str = "pointer";
    fn packed(&self) -> Packed<'_> {
        Packed::Word(*self as usize as u64)
    }
}

impl<T> Value for *mut T {
    const TYPE: &'static str = "pointer";
    fn packed(&self) -> Packed<'_> {
        Packed::Word(*self as usize as u64)
    }
}

impl<T: Value + ?Sized> Value for &T {
    const TYPE: &'static str = T::TYPE;
    #[inline]
    fn packed(&self) -> Packed<'_> {
        (**self).packed()
    }
}

/// The meaning of an event, `enum trace_dynamic_role`.
#[derive(Clone, Copy)]
#[repr(u32)]
pub enum Role {
    Event = 0,
    Begin = 1,
    End = 2,
    Counter = 3,
    RequestBegin = 4,
    RequestEnd = 5,
    RequestHandoff = 6,
}

/// One event in the source; the macros make it. It is declared when the program first reaches it.
pub struct Site {
    provider: &'static str,
    name: &'static str,
    role: Role,
    file: &'static str,
    line: u32,
    flag: AtomicPtr<AtomicU8>,
    event: AtomicPtr<c_void>,
}

/// The flag of a site that is not declared yet.
#[doc(hidden)]
pub static NOT_DECLARED: AtomicU8 = AtomicU8::new(1);

impl Site {
    #[doc(hidden)]
    pub const fn new(
        provider: &'static str,
        name: &'static str,
        role: Role,
        file: &'static str,
        line: u32,
        flag: &'static AtomicU8,
    ) -> Site {
        Site {
            provider,
            name,
            role,
            file,
            line,
            flag: AtomicPtr::new(flag as *const AtomicU8 as *mut AtomicU8),
            event: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Whether to call `record`: a recording selects the event, or it is not declared yet.
    #[doc(hidden)]
    #[inline(always)]
    pub fn is_on(&self) -> bool {
        // SAFETY: the flag is a static, or libtracer's, which is valid as long as the process lives.
        unsafe { (*self.flag.load(Ordering::Relaxed)).load(Ordering::Relaxed) != 0 }
    }

    /// Declare the event with these names and types of fields unless it is, and say whether a recording selects it.
    #[doc(hidden)]
    #[inline]
    pub fn is_selected(&self, fields: &[(&str, &str)]) -> bool {
        if self.event.load(Ordering::Acquire).is_null() {
            self.declare(fields);
        }
        self.is_on()
    }

    #[cold]
    fn declare(&self, fields: &[(&str, &str)]) {
        let text: Vec<String> = fields.iter().map(|(name, kind)| format!("{name}:{kind}")).collect();
        let [provider, name, text, file] =
            [self.provider, self.name, &text.join(" "), self.file].map(|text| CString::new(text).unwrap_or_default());
        let mut event = ptr::null_mut();
        // SAFETY: the texts end in NUL, and libtracer copies them.
        unsafe {
            let role = self.role as u32;
            let (provider, name, text, file) = (provider.as_ptr(), name.as_ptr(), text.as_ptr(), file.as_ptr());
            if trace_dynamic_declare(provider, name, role, text, file, self.line, &mut event) != 0 {
                let rules = CStr::from_ptr(trace_dynamic_rules()).to_string_lossy();
                panic!("{}:{} {:?}: {}", self.provider, self.name, fields, rules);
            }
            self.event.store(event, Ordering::Release);
            self.flag.store(trace_dynamic_flag(event) as *mut AtomicU8, Ordering::Release);
        }
    }

    /// Record the event, which is declared.
    #[doc(hidden)]
    pub fn record(&self, values: &[Packed]) {
        let mut words = [0u64; MAX_FIELDS];
        let nr = values.len().min(MAX_FIELDS);
        for (word, value) in words.iter_mut().zip(values) {
            match value {
                Packed::Word(value) => *word = *value,
                Packed::Text(_) => return self.record_texts(&values[..nr]),
            }
        }
        let event = self.event.load(Ordering::Acquire);
        // SAFETY: nr is at most MAX_FIELDS.
        unsafe { trace_dynamic_record(event, words.as_ptr() as *const c_void, WORD * nr) }
    }

    #[inline(never)]
    fn record_texts(&self, values: &[Packed]) {
        let mut buffer = MaybeUninit::<[u8; WORD * MAX_FIELDS + MAX_FIELDS * MAX_TEXT_BYTES]>::uninit();
        let start = buffer.as_mut_ptr() as *mut u8;
        let mut used = WORD * values.len();
        for (i, value) in values.iter().enumerate() {
            let (word, text) = match value {
                Packed::Word(word) => (*word, &[][..]),
                Packed::Text(text) => (text.len().min(MAX_TEXT_BYTES) as u64, &text[..text.len().min(MAX_TEXT_BYTES)]),
            };
            // SAFETY: the buffer has room for MAX_FIELDS words and as many texts of MAX_TEXT_BYTES.
            unsafe {
                ptr::copy_nonoverlapping(word.to_ne_bytes().as_ptr(), start.add(WORD * i), WORD);
                ptr::copy_nonoverlapping(text.as_ptr(), start.add(used), text.len());
            }
            used += text.len();
        }
        // SAFETY: the first `used` bytes of the buffer are written.
        unsafe { trace_dynamic_record(self.event.load(Ordering::Acquire), start as *const c_void, used) }
    }
}

/// The end of a scope, when it is dropped. It stays in its thread.
#[doc(hidden)]
pub struct Guard(pub &'static Site, pub PhantomData<*const ()>);

impl Drop for Guard {
    #[inline]
    fn drop(&mut self) {
        if self.0.is_on() && self.0.is_selected(&[]) {
            self.0.record(&[]);
        }
    }
}

/// The type of an expression: `see` is compiled for its value, and never called.
#[doc(hidden)]
pub struct Probe<T>(PhantomData<T>);

impl<T: Value> Probe<T> {
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Probe(PhantomData)
    }
    pub fn see(&self, _: &T) {}
    pub const fn kind(&self) -> &'static str {
        T::TYPE
    }
}

/// What the other macros have in common.
#[doc(hidden)]
#[macro_export]
macro_rules! site {
    ($role:ident, $provider:ident, $name:ident) => {{
        static SITE: $crate::Site = $crate::Site::new(
            stringify!($provider),
            stringify!($name),
            $crate::Role::$role,
            file!(),
            line!(),
            &$crate::NOT_DECLARED,
        );
        &SITE
    }};
    ($role:ident, $provider:ident, $name:ident, $($field:ident = $value:expr),*) => {{
        let site = $crate::site!($role, $provider, $name);
        if site.is_on() && site.is_selected(&[$((stringify!($field), {
            let probe = $crate::Probe::new();
            if false {
                probe.see(&$value);
            }
            probe.kind()
        })),*]) {
            site.record(&[$($crate::Value::packed(&$value)),*]);
        }
    }};
}

/// Fields as `name` or `name = expression`, separated by commas.
#[doc(hidden)]
#[macro_export]
macro_rules! fields {
    ($role:ident, $provider:ident, $name:ident, [$($done:tt)*]) => {
        $crate::site!($role, $provider, $name, $($done)*)
    };
    ($role:ident, $provider:ident, $name:ident, [] $field:ident = $value:expr $(, $($rest:tt)*)?) => {
        $crate::fields!($role, $provider, $name, [$field = $value] $($($rest)*)?)
    };
    ($role:ident, $provider:ident, $name:ident, [] $field:ident $(, $($rest:tt)*)?) => {
        $crate::fields!($role, $provider, $name, [$field = $field] $($($rest)*)?)
    };
    ($role:ident, $provider:ident, $name:ident, [$($done:tt)+] $field:ident = $value:expr $(, $($rest:tt)*)?) => {
        $crate::fields!($role, $provider, $name, [$($done)+, $field = $value] $($($rest)*)?)
    };
    ($role:ident, $provider:ident, $name:ident, [$($done:tt)+] $field:ident $(, $($rest:tt)*)?) => {
        $crate::fields!($role, $provider, $name, [$($done)+, $field = $field] $($($rest)*)?)
    };
}

/// Record an event: `event!(shop, order_paid, id, total = price + tax)`.
#[macro_export]
macro_rules! event {
    ($provider:ident, $name:ident $(, $($field:tt)*)?) => {
        $crate::fields!(Event, $provider, $name, [] $($($field)*)?)
    };
}

/// The scope from here to the end of the block, however control leaves it: `scope!(shop, checkout, id);`
#[macro_export]
macro_rules! scope {
    ($provider:ident, $name:ident $(, $($field:tt)*)?) => {
        $crate::fields!(Begin, $provider, $name, [] $($($field)*)?);
        let _scope = $crate::Guard($crate::site!(End, $provider, $name), ::std::marker::PhantomData);
    };
}

/// A value over time: `counter!(shop, waiting, queue.len())`.
#[macro_export]
macro_rules! counter {
    ($provider:ident, $name:ident, $value:expr) => {
        $crate::site!(Counter, $provider, $name, value = $value)
    };
}

/// The thread works for request `id`, a number or text, from now on.
#[macro_export]
macro_rules! request_begin {
    ($provider:ident, $name:ident, $id:expr) => {
        $crate::site!(RequestBegin, $provider, $name, id = $id)
    };
}

/// The request is complete.
#[macro_export]
macro_rules! request_end {
    ($provider:ident, $name:ident, $id:expr) => {
        $crate::site!(RequestEnd, $provider, $name, id = $id)
    };
}

/// The thread passes the request on, to the thread that begins it next.
#[macro_export]
macro_rules! request_handoff {
    ($provider:ident, $name:ident, $id:expr) => {
        $crate::site!(RequestHandoff, $provider, $name, id = $id)
    };
}
