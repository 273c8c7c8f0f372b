// The reference run of Duktape (JavaScript): other programs than those of the training. A scheduler
// in the manner of Richards, symbolic derivatives, a trie, a maze, big numbers, dates by hand, and
// a text layout.

var seed = 99;
function random(limit) {
  seed = (seed * 48271) % 2147483647;
  return seed % limit;
}

// Tasks that send packets to each other
function Scheduler() {
  this.tasks = [];
  this.trace = 0;
}
Scheduler.prototype.add = function (task) {
  task.id = this.tasks.push(task) - 1;
  task.inbox = [];
};
Scheduler.prototype.run = function (steps) {
  while (steps-- > 0) {
    for (var i = 0; i < this.tasks.length; i++) {
      var task = this.tasks[i];
      if (task.inbox.length) {
        var packet = task.inbox.shift();
        this.trace = (this.trace * 31 + task.handle(packet, this)) % 1000003;
      }
    }
  }
};
Scheduler.prototype.send = function (to, packet) {
  this.tasks[to % this.tasks.length].inbox.push(packet);
};
function Worker(step) { this.step = step; }
Worker.prototype.handle = function (packet, scheduler) {
  packet.hops += 1;
  packet.data.push(packet.hops * this.step % 26);
  if (packet.data.length > 8) packet.data.shift();
  scheduler.send(this.id + this.step, packet);
  return packet.data.length;
};
function Device() { this.count = 0; }
Device.prototype.handle = function (packet, scheduler) {
  this.count++;
  scheduler.send(packet.hops, { hops: packet.hops + 1, data: packet.data.slice(1) });
  return this.count % 97;
};
var scheduler = new Scheduler();
for (var i = 0; i < 9; i++) scheduler.add(i % 3 ? new Worker(i) : new Device());
for (i = 0; i < 14; i++) scheduler.send(i, { hops: i, data: [] });
scheduler.run(110);
print("scheduler", scheduler.trace);

// Symbolic derivatives of expressions
function Num(v) { this.v = v; }
Num.prototype.derive = function () { return new Num(0); };
Num.prototype.toString = function () { return String(this.v); };
function Var() {}
Var.prototype.derive = function () { return new Num(1); };
Var.prototype.toString = function () { return "x"; };
function Op(op, a, b) { this.op = op; this.a = a; this.b = b; }
Op.prototype.derive = function () {
  var da = this.a.derive(), db = this.b.derive();
  if (this.op === "+") return simplify("+", da, db);
  return simplify("+", simplify("*", da, this.b), simplify("*", this.a, db));
};
Op.prototype.toString = function () { return "(" + this.a + this.op + this.b + ")"; };
function simplify(op, a, b) {
  var na = a instanceof Num, nb = b instanceof Num;
  if (na && nb) return new Num(op === "+" ? (a.v + b.v) % 9973 : a.v * b.v % 9973);
  if (op === "*" && (na && a.v === 0 || nb && b.v === 0)) return new Num(0);
  if (op === "+" && na && a.v === 0 || op === "*" && na && a.v === 1) return b;
  if (op === "+" && nb && b.v === 0 || op === "*" && nb && b.v === 1) return a;
  return new Op(op, a, b);
}
function polynomial(n) {
  var e = new Num(1);
  for (var i = 1; i <= n; i++) e = new Op("+", new Op("*", e, new Var()), new Num(i));
  return e;
}
var derived = polynomial(6);
for (i = 0; i < 3; i++) derived = derived.derive();
print("derivative", derived.toString().length);

// A trie of words
var trie = {}, words = 0;
function insert(word) {
  var node = trie;
  for (var i = 0; i < word.length; i++) {
    var c = word.charAt(i);
    node = node[c] || (node[c] = {});
  }
  if (!node.end) words++;
  node.end = (node.end || 0) + 1;
}
function collect(node, prefix, out) {
  for (var c in node) {
    if (c === "end") out.push(prefix + ":" + node.end);
    else collect(node[c], prefix + c, out);
  }
  return out;
}
for (i = 0; i < 900; i++) {
  var w = "";
  for (var j = 0; j < 3 + i % 4; j++) w += "etaoinshr"[random(9)];
  insert(w);
}
var listed = collect(trie, "", []).sort();
print("trie", words, listed[0], listed[listed.length - 1]);

// A maze: carved by depth-first search, solved by breadth-first search
var size = 17, maze = [], stack = [[1, 1]];
for (i = 0; i < size; i++) { maze.push([]); for (j = 0; j < size; j++) maze[i].push("#"); }
maze[1][1] = " ";
while (stack.length) {
  var at = stack[stack.length - 1], free = [];
  [[0, 2], [2, 0], [0, -2], [-2, 0]].forEach(function (d) {
    var row = maze[at[0] + d[0]];
    if (row && row[at[1] + d[1]] === "#") free.push(d);
  });
  if (!free.length) { stack.pop(); continue; }
  var d = free[random(free.length)];
  maze[at[0] + d[0] / 2][at[1] + d[1] / 2] = " ";
  maze[at[0] + d[0]][at[1] + d[1]] = " ";
  stack.push([at[0] + d[0], at[1] + d[1]]);
}
var distance = { "1,1": 0 }, queue = ["1,1"];
while (queue.length) {
  var key = queue.shift(), p = key.split(",").map(Number);
  [[0, 1], [1, 0], [0, -1], [-1, 0]].forEach(function (d) {
    var y = p[0] + d[0], x = p[1] + d[1], k = y + "," + x;
    if (maze[y][x] === " " && distance[k] === undefined) {
      distance[k] = distance[key] + 1;
      queue.push(k);
    }
  });
}
print("maze", distance[(size - 2) + "," + (size - 2)], maze[1].join(""));

// Big numbers: factorials in decimal digits
var digits = [1];
for (i = 2; i <= 90; i++) {
  var carry = 0;
  for (j = 0; j < digits.length; j++) {
    carry += digits[j] * i;
    digits[j] = carry % 1000;
    carry = Math.floor(carry / 1000);
  }
  while (carry) { digits.push(carry % 1000); carry = Math.floor(carry / 1000); }
}
print("factorial", digits.length, digits.slice().reverse().slice(0, 4).join(","));

// Paragraphs: text cut into lines of even width, with regular expressions and string functions
var prose = "";
for (i = 0; i < 60; i++) {
  prose += "The quick-brown fox no. " + i + " jumps over " + (i * 37 % 11);
  prose += " lazy dogs, again & again. ";
}
prose = prose.replace(/&/g, "and").replace(/(\d+) lazy (\w+)/g, function (all, n, what) {
  return n === "1" ? "one lazy dog" : n + " sleepy " + what;
});
var lines = [], line = "";
prose.split(/[\s-]+/).forEach(function (word) {
  if (line.length + word.length + 1 > 66) { lines.push(line); line = ""; }
  line += (line ? " " : "") + word;
});
lines = lines.map(function (l) {
  return (new Array(Math.floor((70 - l.length) / 2) + 1).join(" ") + l).substring(0, 70);
});
print("layout", lines.length, lines[7].trim(), encodeURIComponent(lines[3]).length);

// Memoized functions and typed arrays
function memoize(f) {
  var cache = {};
  return function () {
    var key = Array.prototype.join.call(arguments, ":");
    return key in cache ? cache[key] : (cache[key] = f.apply(null, arguments));
  };
}
var distanceOf = memoize(function (i, j) {
  if (i === 0 || j === 0) return i + j;
  var same = "kitten in the hat".charAt(i - 1) === "sitting on a mat!".charAt(j - 1);
  var change = distanceOf(i - 1, j - 1) + (same ? 0 : 1);
  return Math.min(distanceOf(i - 1, j) + 1, distanceOf(i, j - 1) + 1, change);
});
print("edit distance", distanceOf(17, 17));
var sieve = new Uint8Array(6000), primes = 0;
for (i = 2; i < sieve.length; i++) {
  if (!sieve[i]) { primes++; for (j = i * 2; j < sieve.length; j += i) sieve[j] = 1; }
}
print("primes", primes);
