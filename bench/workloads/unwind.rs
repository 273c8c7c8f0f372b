use std::collections::HashMap; use std::panic; use std::thread;
#[derive(Debug)] struct D(u32); impl Drop for D { fn drop(&mut self) { println!("drop {}", self.0); } }
#[inline(never)] fn f(n: u32) -> u32 { let _d = D(n); if n > 3 { panic!("deep {}", n); } f(n + 1) + 1 }
fn main() {
  panic::set_hook(Box::new(|_| println!("panic"))); // the usual message holds the number of the process
  let mut m = HashMap::new(); for i in 0..1000u64 { *m.entry(i * 7919 % 101).or_insert(0u64) += i; }
  let mut v: Vec<_> = m.into_iter().collect(); v.sort(); println!("{:?}", &v[..5]);
  if cfg!(panic = "unwind") { let r = panic::catch_unwind(|| f(0)); println!("{}", r.is_err()); }
  let hs: Vec<_> = (0..4).map(|i| thread::spawn(move || (0..1000u64).map(|x| x * i).sum::<u64>())).collect();
  for h in hs { println!("{}", h.join().unwrap()); }
  let s: String = "hello world".chars().rev().collect(); println!("{}", s);
  if let Ok(x) = "12x".parse::<i32>() { println!("{}", x); } else { println!("no"); }
}
