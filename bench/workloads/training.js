// The training run of Duktape (JavaScript): a shop. Orders are made, priced, grouped and printed; a
// tokenizer reads a configuration; events go to listeners.
"use strict";

var seed = 7;
function random(limit) {
  seed = (seed * 16807) % 2147483647;
  return seed % limit;
}

// Objects, prototypes, closures
function Item(name, price) {
  this.name = name;
  this.price = price;
}
Item.prototype.total = function (count) {
  return this.price * count;
};
function Discounted(name, price, percent) {
  Item.call(this, name, price);
  this.percent = percent;
}
Discounted.prototype = Object.create(Item.prototype);
Discounted.prototype.total = function (count) {
  return Item.prototype.total.call(this, count) * (100 - this.percent) / 100;
};

var items = [];
for (var i = 0; i < 60; i++) {
  if (i % 3) items.push(new Item("item" + i, 1 + random(900) / 10));
  else items.push(new Discounted("offer" + i, 5 + random(50), 10 + i % 4));
}
var orders = [];
for (i = 0; i < 500; i++) {
  var lines = [];
  for (var j = 0; j <= random(4); j++) {
    lines.push({ item: random(items.length), count: 1 + random(9) });
  }
  orders.push({ id: "A" + (1000 + i), customer: "customer " + random(40), lines: lines });
}
function price(order) {
  return order.lines.reduce(function (sum, line) {
    return sum + items[line.item].total(line.count);
  }, 0);
}
var groups = {};
orders.forEach(function (order) {
  var group = groups[order.customer] || (groups[order.customer] = { orders: 0, sum: 0 });
  group.orders++;
  group.sum += price(order);
});
var best = Object.keys(groups).sort(function (a, b) {
  return groups[b].sum - groups[a].sum || (a < b ? -1 : 1);
});
print(best.slice(0, 3).join("; "), groups[best[0]].sum.toFixed(2));

// JSON and text
var text = JSON.stringify({ orders: orders.slice(0, 150), groups: groups });
var copy = JSON.parse(text);
print(text.length, JSON.stringify(copy) === text);
var letter = "Dear NAME, your COUNT orders cost SUM.";
var letters = best.map(function (name) {
  var group = groups[name];
  return letter
    .replace("NAME", name.toUpperCase())
    .replace(/COUNT/g, group.orders)
    .replace(/SUM/, group.sum.toFixed(2));
});
print(letters.join("\n").length, letters[0]);

// A tokenizer by regular expressions
var config = "";
for (i = 0; i < 40; i++) {
  config += "section" + i + " {\n  width = " + i * 3 + ";\n  title = \"name " + i;
  config += "\"; # comment\n}\n";
}
var pattern = /\s*(?:#[^\n]*|([a-z]+\d*)|(\d+)|("[^"]*")|([{}=;]))/g;
var kinds = [0, 0, 0, 0], match;
while ((match = pattern.exec(config)) !== null && match[0] !== "") {
  for (j = 1; j <= 4; j++) if (match[j] !== undefined) kinds[j - 1]++;
}
print(kinds.join(","));

// Events
function Emitter() {
  this.listeners = {};
}
Emitter.prototype.on = function (name, listener) {
  (this.listeners[name] = this.listeners[name] || []).push(listener);
  return this;
};
Emitter.prototype.emit = function (name, value) {
  (this.listeners[name] || []).forEach(function (listener) {
    listener(value);
  });
};
var emitter = new Emitter(), log = [];
["open", "data", "close"].forEach(function (name, index) {
  var count = 0;
  emitter.on(name, function (value) {
    count += value * (index + 1);
    if (count % 100 === 0) log.push(name + count);
  });
});
for (i = 0; i < 3000; i++) emitter.emit(["open", "data", "close", "none"][i % 4], i % 10);
print(log.length);

// Failures
var failures = 0;
for (i = 0; i < 600; i++) {
  try {
    if (i % 5 === 0) throw new RangeError("bad " + i);
    if (i % 7 === 0) undefined.property = 1;
  } catch (error) {
    failures += error instanceof RangeError ? 1 : error instanceof TypeError ? 1000 : 1e9;
  } finally {
    failures += 1e-3;
  }
}
print(failures.toFixed(3));
