-- A workload for lua: closures, tables, metatables, string patterns, coroutines, errors, integers and
-- floats, sorting, garbage collection, recursion. Prints results that do not depend on addresses.
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
print("fib", fib(18))

local t = {}
local seed = 42
local function random() seed = (seed * 1103515245 + 12345) & 0x7fffffff return seed end
for i = 1, 2000 do t[i] = random() % 10000 end
table.sort(t)
table.sort(t, function(a, b) if a % 10 ~= b % 10 then return a % 10 < b % 10 end return a < b end)
print("sorted", t[1], t[1000], t[2000], #t)

local text = ("the quick brown fox jumps over the lazy dog "):rep(20)
local counts = {}
for word in text:gmatch("%a+") do counts[word] = (counts[word] or 0) + 1 end
local keys = {}
for k in pairs(counts) do keys[#keys + 1] = k end
table.sort(keys)
for _, k in ipairs(keys) do io.write(k, "=", counts[k], " ") end
print()
print(text:gsub("(%a+) (%a+)", "%2 %1", 3):sub(1, 60))
print(("%5.2f|%-8s|%x|%q|%i"):format(3.14159, "left", 255, "a\nb", 7), ("x"):byte(), ("abc"):reverse():upper())

local Account = {}
Account.__index = Account
Account.__add = function(a, b) return setmetatable({ balance = a.balance + b.balance }, Account) end
Account.__tostring = function(a) return "account " .. a.balance end
Account.__eq = function(a, b) return a.balance == b.balance end
Account.__lt = function(a, b) return a.balance < b.balance end
Account.__call = function(a, x) a.balance = a.balance + x return a end
Account.__close = function(a) print("closing", a.balance) end
function Account.new(b) return setmetatable({ balance = b }, Account) end
local a, b = Account.new(10), Account.new(32)
print(tostring(a + b), a == b, a < b, tostring(a(5)))
do local c <close> = Account.new(99) end

local function producer(n)
  return coroutine.wrap(function() for i = 1, n do coroutine.yield(i * i) end return "done" end)
end
local sum, next_value = 0, producer(200)
while true do
  local v = next_value()
  if v == "done" then break end
  sum = sum + v
end
print("coroutine", sum)
local co = coroutine.create(function() error({ code = 7 }) end)
local ok, err = coroutine.resume(co)
print(ok, err.code, coroutine.status(co))

print(pcall(function() local x = nil; return x.field end))
print(pcall(error, "plain message", 0))
print(select("#", pcall(string.rep, "x", -1)), xpcall(function() return 1 // 0 end, function(m) return "handled: " .. m end))
-- Large frames: the stack is full after some thousand calls, which takes a tenth of the time that small ones take.
local depth = 0
local function overflow(...) depth = depth + 1 return 1 + overflow(...) end
local fine, message = pcall(overflow, table.unpack({}, 1, 100))
print(fine, message:match("stack overflow") ~= nil, depth > 1000)

print(7 // 2, -7 // 2, 7 % -3, 7.5 // 2, 2 ^ 10, 1 / 3, 10 == 10.0, math.type(3), math.type(3.0), 1 << 40, 5 & 3 ~ 1, "10" + 5)
print(math.maxinteger, math.mininteger, math.huge, -0.0, 1e15, 2^53, string.format("%.14g", math.pi), math.tointeger(8.0))

local primes, sieve = {}, {}
for i = 2, 5000 do
  if not sieve[i] then primes[#primes + 1] = i for j = i * i, 5000, i do sieve[j] = true end end
end
print("primes", #primes, primes[#primes])

local function permutations(list, n, visit)
  n = n or #list
  if n <= 1 then visit(list) return end
  for i = 1, n do
    list[n], list[i] = list[i], list[n]
    permutations(list, n - 1, visit)
    list[n], list[i] = list[i], list[n]
  end
end
local seen = 0
permutations({ 1, 2, 3, 4, 5, 6 }, nil, function(p) if p[1] < p[6] then seen = seen + 1 end end)
print("permutations", seen)

local parts = {}
for i = 1, 300 do parts[#parts + 1] = string.pack("<i4z", i, "s" .. i) end
local packed = table.concat(parts)
print("packed", #packed, string.unpack("<i4z", packed, 9))
collectgarbage()
local chunk = load("local x = ... ; local t = {} ; for i = 1, x do t[i] = function() return i end end return t[x]() * 2")
print("loaded", chunk(50), load("syntax error here"))
goto finish
print("skipped")
::finish::
print(utf8.char(955, 8364, 128512), utf8.len("λ€"), os.getenv("RESPIKE_ABSENT"), io.read("l"))
os.exit(5, true)
