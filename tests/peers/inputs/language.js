// What JavaScript has and programs seldom use, for Duktape's less frequent paths: errors thrown through
// native callbacks, coroutines, proxies, typed arrays, regular expressions, JSON, dates, deep recursion.
// Everything printed is the same in every run.

function show(what, f) {
  var said;
  try {
    said = f();
  } catch (e) {
    said = "threw " + (e && e.name) + ": " + (e && e.message);
  }
  print(what + ": " + (typeof said === "string" ? said : JSON.stringify(said)));
}

show("finally", function() {
  var log = [];
  outer: for (var i = 0; i < 5; i++) {
    try {
      if (i === 1) continue outer;
      if (i === 3) break outer;
      try {
        if (i % 2 === 0) throw i;
      } finally {
        log.push("f" + i);
      }
    } catch (e) {
      log.push("c" + e);
    } finally {
      log.push("o" + i);
    }
  }
  return log.join(" ");
});
show("through sort", function() {
  [3, 1, 2].sort(function(a, b) {
    if (a === 2 || b === 2) throw new RangeError("two");
    return a - b;
  });
});
show("through replace", function() {
  return "a1b22".replace(/\d+/g, function(m) {
    if (m === "22") throw new Error("inner " + m);
    return "<" + m + ">";
  });
});
show("through valueOf", function() {
  return 1 + {
    valueOf: function() {
      throw new URIError("valueOf");
    }
  };
});
show("through JSON", function() {
  return JSON.stringify({
    a: {
      toJSON: function() {
        throw new EvalError("toJSON");
      }
    }
  });
});
show("deep", function() {
  function f(n) {
    return n ? 1 + f(n - 1) : 0;
  }
  return f(2000);
});
show("too deep", function() {
  function f(n) {
    return 1 + f(n + 1);
  }
  try {
    f(0);
  } catch (e) {
    return e instanceof RangeError ? "RangeError" : String(e);
  }
});
show("deep native", function() {
  var a = [];
  for (var i = 0; i < 3000; i++) a = [a];
  try {
    return JSON.stringify(a).length;
  } catch (e) {
    return e.name;
  }
});

show("coroutines", function() {
  function generator(from) {
    for (var i = from; i < from + 5; i++) {
      var sent = Duktape.Thread.yield(i * i);
      if (sent === "stop") throw new TypeError("stopped at " + i);
    }
    return "done";
  }
  var a = new Duktape.Thread(generator), b = new Duktape.Thread(generator), out = [];
  out.push(Duktape.Thread.resume(a, 1), Duktape.Thread.resume(b, 10));
  for (var i = 0; i < 3; i++) out.push(Duktape.Thread.resume(a), Duktape.Thread.resume(b));
  try {
    Duktape.Thread.resume(a, "stop");
  } catch (e) {
    out.push(e.message);
  }
  try {
    Duktape.Thread.resume(b, new Error("sent"), true);
  } catch (e) {
    out.push(e.message);
  }
  try {
    Duktape.Thread.resume(a);
  } catch (e) {
    out.push(e.name);
  }
  return out.join(" ");
});
show("proxy", function() {
  var log = [], p = new Proxy({x: 1}, {
                  get: function(t, k) {
                    log.push("get " + String(k));
                    return k in t ? t[k] : "none";
                  },
                  set: function(t, k, v) {
                    log.push("set " + k);
                    t[k] = v;
                    return true;
                  },
                  has: function(t, k) {
                    log.push("has " + k);
                    return k in t;
                  },
                  deleteProperty: function(t, k) {
                    log.push("delete " + k);
                    return delete t[k];
                  },
                  ownKeys: function(t) {
                    log.push("keys");
                    return Object.getOwnPropertyNames(t);
                  }
                });
  p.y = p.x + p.z;
  delete p.x;
  log.push("y" in p, Object.keys(p).join());
  return log.join(", ");
});
show("accessors", function() {
  var o = Object.create(
      {
        get half() {
          return this.n / 2;
        },
        set half(v) {
          this.n = 2 * v;
        }
      },
      {n: {value: 8, writable: true}});
  o.half += 3;
  Object.freeze(o);
  "use strict";
  return [o.half, o.n, Object.isFrozen(o), JSON.stringify(Object.getOwnPropertyDescriptor(o, "n"))].join(" ");
});
show("strict", function() {
  "use strict";
  undefinedVariable = 1;
});
show("eval", function() {
  var x = 5;
  return eval("var y = x * 2; (function () { return x + y + eval('x * y'); })()");
});
show("with", function() {
  return new Function("o", "with (o) { a = a + b; return typeof c + a; }")({a: 1, b: 2});
});
show("syntax", function() {
  return eval("for (;;");
});
show("arguments", function() {
  return (function(a, b) {
    arguments[0] = 9;
    b = 7;
    return [a, arguments[1], arguments.length].join();
  })(1, 2, 3);
});
show("bind", function() {
  return (function(a, b, c) {
           return [this.v, a, b, c].join();
         })
      .bind({v: 1}, 2)
      .apply({v: 5}, [3, 4]);
});
show("switch", function() {
  var out = [];
  [1, "1", 2, null, undefined, NaN, 7].forEach(function(v) {
    switch (v) {
      case 1:
        out.push("one");
      case 2:
        out.push("two");
        break;
      case "1":
        out.push("s");
        break;
      default:
        out.push("d");
      case null:
        out.push("n");
    }
  });
  return out.join();
});

show("regexps", function() {
  var out = [];
  out.push("2026-11-23T10:20".match(/(\d+)-(\d+)-(\d+)(?:T(\d+):(\d+))?/).slice(1).join("/"));
  out.push("aaa bbb".replace(/(a+?)(a*)\s(?=b)/, "[$2|$1|$&|$`|$']"));
  out.push("x".match(/^(?:(a)|(x))$/).length, /(?!foo)\w+/.exec("foobar")[0], /\bfo+\b/i.test("a FOOO b"));
  out.push("a,b;c d".split(/[,; ]/).join("|"), "one\ntwo".match(/^\w+$/gm).join("+"), /([ab])\1/.test("abba"));
  out.push(/\u00e9[^\x00-\x7f]{1,2}/.exec("caf\u00e9\u00fc\u00f6x")[0].length);
  var r = /o/g, n = 0;
  while (r.exec("foo boo")) n += r.lastIndex;
  out.push(n);
  return out.join(" ");
});
show("bad regexp", function() {
  return new RegExp("(a");
});
show("slow regexp", function() {
  return /^(a|aa)+$/.test("aaaaaaaaaaaaaaaaaaab");
});

show("json", function() {
  var o = JSON.parse('{"a":[1,2.5e3,-0,"\\u00e9\\n",null,true],"b":{"c":{}}}', function(k, v) {
    return typeof v === "number" ? v * 2 : v;
  });
  return JSON.stringify(o, null, 1).length + JSON.stringify(o, ["a"]) +
      JSON.stringify([undefined, function() {}, new Date(0), 1 / 0]) +
      Duktape.enc("jx", {u: undefined, n: NaN, b: new Uint8Array(2)});
});
show("bad json", function() {
  return JSON.parse('{"a": 01}');
});
show("cyclic json", function() {
  var a = {};
  a.a = a;
  return JSON.stringify(a);
});
show("cbor", function() {
  var e = CBOR.encode({a: [1, -1, 1.5, "x", null, true, 70000, 1e300]});
  return Duktape.enc("hex", e) + JSON.stringify(CBOR.decode(e));
});
show("typed", function() {
  var b = new ArrayBuffer(32), f = new Float64Array(b, 8, 2), u = new Uint8Array(b), d = new DataView(b),
      c = new Uint8ClampedArray(3);
  f[0] = Math.PI;
  d.setInt16(0, -2, true);
  d.setFloat32(4, 1.1);
  c.set([300, -5, 1.5]);
  return [
    u.subarray(0, 16).toString === undefined, Array.prototype.join.call(u), d.getUint16(0), d.getFloat32(4),
    Array.prototype.join.call(c), new Int32Array([1e10, -1.9, "7"])[1]
  ].join(" ");
});
show("out of view", function() {
  return new DataView(new ArrayBuffer(4)).getInt32(2);
});
show("numbers", function() {
  return [
    0.1 + 0.2,
    1e21,
    123456789012345680000,
    5e-324,
    1.7976931348623157e308,
    -0,
    (255).toString(16),
    (0.5).toString(2),
    (1234.5678).toFixed(2),
    (0.00001234).toPrecision(2),
    (1e6).toExponential(3),
    parseInt("0x1fz"),
    parseInt("101", 2),
    parseFloat("3.25abc"),
    Number("0b101"),
    Number(" 12 "),
    Number("1e"),
    7 % -3,
    -7 % 3,
    1 << 33,
    -1 >>> 28,
    ~5,
    2 ** 10
  ].join(" ");
});
show("math", function() {
  return ["sin", "cos", "tan", "exp", "log", "sqrt", "atan", "cbrt", "log2", "floor", "round", "sign"]
             .map(function(f) {
               return Math[f](2.5).toPrecision(12);
             })
             .join(" ") +
      [Math.max(), Math.min(3, -1), Math.hypot(3, 4), Math.imul(65537, 65537), Math.clz32(255)].join();
});
show("dates", function() {
  var d = new Date(Date.UTC(2024, 1, 29, 23, 59, 58, 997));
  d.setUTCMonth(12);
  return d.toISOString() + " " + Date.parse("1970-01-02T00:00:00Z") + " " + new Date(NaN).getTime() + " " +
      d.getUTCDay();
});
show("bad date", function() {
  return new Date(NaN).toISOString();
});
show("strings", function() {
  return [
    "\u00df\u00e9".toUpperCase(), "abc".localeCompare("abd"), "abcdef".substr(-3, 2), "  x ".trim() + "|",
    "a-b-c".lastIndexOf("-"), "\ud83d\ude00".length, "x".repeat(5), "abc".codePointAt(1), String.fromCharCode(72, 105),
    "abc".startsWith("b", 1), encodeURIComponent("\u00e9 &"), decodeURIComponent("%E4%B8%AD").charCodeAt(0),
    escape("\u0107")
  ].join(" ");
});
show("bad uri", function() {
  return decodeURIComponent("%E4%");
});
show("arrays", function() {
  var a = [5, 3, , 8, "10", 1];
  a[12] = 4;
  return [
    a.length, a.slice(-3).length, a.splice(1, 3, "x", "y").join(), a.indexOf(8), a.reduce(function(x, y) {
      return x + "." + y;
    }),
    a.reverse().join(), a.concat([[1], 2]).length, a.sort().join(),
    [1, 2, 3].map(String).filter(Boolean).some(function(v) {
      return v === "2";
    })
  ].join(" ");
});
show("big sort", function() {
  var a = [], s = 1;
  for (var i = 0; i < 3000; i++) {
    s = (s * 16807) % 2147483647;
    a.push(s % 1000);
  }
  a.sort(function(x, y) {
    return x - y;
  });
  var h = 0;
  for (i = 0; i < a.length; i++) h = (h * 31 + a[i]) % 1000003;
  return h;
});
show("errors", function() {
  var e = new TypeError("m");
  e.extra = 1;
  return [
    e.toString(), Object.keys(e).join(), e instanceof Error, Object.prototype.toString.call(e), e.stack.split("\n")[0]
  ].join(" ");
});
show("not callable", function() {
  var o = {};
  o.f.g();
});
show("symbols", function() {
  var s = Symbol("q"), o = {};
  o[s] = 1;
  return String(s) + Object.getOwnPropertySymbols(o).length + (Symbol.for("a") === Symbol.for("a"));
});
show("reflect", function() {
  function F(a) {
    this.a = a;
  }
  return Reflect.construct(F, [4]).a + Reflect.apply(Math.max, null, [1, 9]) + Reflect.ownKeys({z: 1, 2: 1}).join();
});
show("finalizers", function() {
  var n = 0;
  (function() {
    for (var i = 0; i < 50; i++)
      Duktape.fin({i: i}, function() {
        n++;
      });
  })();
  Duktape.gc();
  return n > 40;
});
show("garbage", function() {
  var keep = [];
  for (var i = 0; i < 20000; i++) {
    var o = {a: i, b: [i], c: "s" + i};
    o.self = o;
    if (i % 1000 === 0) keep.push(o);
  }
  Duktape.gc();
  return keep
      .map(function(o) {
        return o.c;
      })
      .join();
});
show("encodings", function() {
  return Duktape.enc("base64", "hello w\u00f6rld") + Duktape.dec("base64", "aGVsbG8=") +
      new TextDecoder().decode(new TextEncoder().encode("\u4e2d")).charCodeAt(0);
});
