-- The training run of Lua: what small scripts do. A report is built from records, words are
-- counted, a template is filled, objects of three classes live in a simulation, records are written
-- and read back.

local function random(seed)
  return function(limit)
    seed = (seed * 1103515245 + 12345) % 2147483648
    return seed // 65536 % limit
  end
end
local rnd = random(21164)

-- String building and formatting
local syllables = { "ka", "lo", "mi", "ren", "ta", "su", "vor", "el", "an", "qui" }
local function word()
  local parts = {}
  for i = 1, 1 + rnd(3) do parts[i] = syllables[1 + rnd(#syllables)] end
  return table.concat(parts)
end

local records = {}
for i = 1, 600 do
  records[i] = { id = i, name = word(), group = word(), amount = rnd(100000) / 100 }
end
table.sort(records, function(a, b)
  if a.group ~= b.group then return a.group < b.group end
  return a.amount > b.amount
end)
local lines, total = {}, 0
for _, r in ipairs(records) do
  lines[#lines + 1] = string.format("%-12s %5d %-10s %9.2f", r.group, r.id, r.name, r.amount)
  total = total + r.amount
end
local report = table.concat(lines, "\n")
print(#report, string.format("%.2f", total), lines[1])

-- Word count with patterns
local counts, order = {}, {}
for w in report:gmatch("%a+") do
  if not counts[w] then
    counts[w] = 0
    order[#order + 1] = w
  end
  counts[w] = counts[w] + 1
end
table.sort(order, function(a, b)
  return counts[a] > counts[b] or counts[a] == counts[b] and a < b
end)
for i = 1, 5 do print(order[i], counts[order[i]]) end

-- A template filled by gsub with a function, and key = value lines parsed
local template = "Dear ${name} of ${group},\nyou owe us ${amount} (no. ${id}).\n"
local letters = 0
for i = 1, 600 do
  local r = records[i]
  local text = template:gsub("%${(%w+)}", function(key) return tostring(r[key]) end)
  letters = letters + #text
end
local parsed = 0
for line in ("alpha = 1\nbeta=two\n# no\ngamma =  3.5 \n"):rep(300):gmatch("[^\n]+") do
  local key, value = line:match("^%s*(%w+)%s*=%s*(.-)%s*$")
  if key then parsed = parsed + #key + #(tonumber(value) and "number" or value) end
end
print(letters, parsed)

-- Classes: a bank of accounts with interest and limits
local Account = {}
Account.__index = Account
function Account.new(owner, balance)
  return setmetatable({ owner = owner, balance = balance }, Account)
end
function Account:deposit(x) self.balance = self.balance + x end
function Account:withdraw(x)
  if x > self:limit() then error({ code = "limit", owner = self.owner }) end
  self.balance = self.balance - x
end
function Account:limit() return self.balance end
local Credit = setmetatable({}, { __index = Account })
Credit.__index = Credit
function Credit.new(owner, balance, credit)
  local o = Account.new(owner, balance)
  o.credit = credit
  return setmetatable(o, Credit)
end
function Credit:limit() return self.balance + self.credit end
Credit.__tostring = function(a) return a.owner .. ":" .. a.balance end
local accounts, refused = {}, 0
for i = 1, 60 do
  accounts[i] = i % 2 == 0 and Account.new(word(), rnd(500)) or Credit.new(word(), rnd(500), 200)
end
for i = 1, 6000 do
  local from, to, x = accounts[1 + rnd(60)], accounts[1 + rnd(60)], rnd(90)
  local ok = pcall(from.withdraw, from, x)
  if ok then to:deposit(x) else refused = refused + 1 end
end
print(refused, tostring(accounts[1]))

-- Closures: counters, filters and maps over sequences
local function map(t, f)
  local r = {}
  for i, v in ipairs(t) do r[i] = f(v) end
  return r
end
local function filter(t, f)
  local r = {}
  for _, v in ipairs(t) do if f(v) then r[#r + 1] = v end end
  return r
end
local function fold(t, f, x)
  for _, v in ipairs(t) do x = f(x, v) end
  return x
end
local function compose(f, g) return function(x) return f(g(x)) end end
local checksum = 0
for round = 1, 40 do
  local amounts = map(records, function(r) return r.amount end)
  local big = filter(amounts, function(x) return x > 10 * round end)
  local whole = map(big, compose(math.floor, function(x) return x / round end))
  checksum = checksum + fold(whole, function(a, b) return a + b end, 0)
end
print(checksum)

-- Serialization: write a nested table as source text, load it again
local function serialize(v, indent)
  if type(v) == "table" then
    local keys, out = {}, {}
    for k in pairs(v) do keys[#keys + 1] = k end
    table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
    for _, k in ipairs(keys) do
      local name = type(k) == "number" and "[" .. k .. "]" or k
      out[#out + 1] = indent .. "  " .. name .. " = " .. serialize(v[k], indent .. "  ")
    end
    return "{\n" .. table.concat(out, ",\n") .. "\n" .. indent .. "}"
  end
  return type(v) == "string" and string.format("%q", v) or tostring(v)
end
local text = serialize({ records = table.move(records, 1, 350, 1, {}), made = "training" }, "")
local back = load("return " .. text)()
print(#text, #back.records, serialize(back, "") == text)

-- A queue at a counter: numbers and tables
local queue, head, tail, served, waited = {}, 1, 0, 0, 0
for minute = 1, 8000 do
  if rnd(10) < 4 then
    tail = tail + 1
    queue[tail] = minute
  end
  if head <= tail and rnd(10) < 5 then
    waited = waited + minute - queue[head]
    queue[head] = nil
    head, served = head + 1, served + 1
  end
end
print(served, waited)

-- Memoized recursion
local memo = {}
local function ways(n, k)
  if n == 0 then return 1 end
  if n < 0 or k == 0 then return 0 end
  local key = n * 64 + k
  memo[key] = memo[key] or (ways(n - k, k) + ways(n, k - 1)) % 1000007
  return memo[key]
end
print(ways(90, 30))
