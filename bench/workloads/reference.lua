-- The reference run of Lua: other programs than those of the training. A JSON reader, an
-- interpreter of arithmetic, queens, matrices, a heap, LZW, coroutines, sets by metatables,
-- Markdown to HTML, and life.

local seed = 42
local function rnd(limit)
  seed = (seed * 16807) % 2147483647
  return seed % limit
end

-- Coroutines: permutations and a pipeline
local function permutations(a, n)
  n = n or #a
  if n <= 1 then coroutine.yield(a) end
  for i = 1, n do
    a[n], a[i] = a[i], a[n]
    permutations(a, n - 1)
    a[n], a[i] = a[i], a[n]
  end
end
local inversions = 0
for p in coroutine.wrap(function() permutations({ 1, 2, 3, 4, 5, 6 }) end) do
  for i = 1, #p - 1 do if p[i] > p[i + 1] then inversions = inversions + 1 end end
end
print("permutations", inversions)

-- JSON: write and read
local function escape(c) return string.format("\\u%04x", c:byte()) end
local function encode(v)
  local t = type(v)
  if t == "table" then
    local out = {}
    if #v > 0 then
      for i, x in ipairs(v) do out[i] = encode(x) end
      return "[" .. table.concat(out, ",") .. "]"
    end
    local keys = {}
    for k in pairs(v) do keys[#keys + 1] = k end
    table.sort(keys)
    for _, k in ipairs(keys) do out[#out + 1] = encode(k) .. ":" .. encode(v[k]) end
    return "{" .. table.concat(out, ",") .. "}"
  elseif t == "string" then
    return '"' .. v:gsub('[%c"\\]', escape) .. '"'
  end
  return tostring(v)
end
local function decode(text)
  local at = 1
  local value
  local function skip() at = text:find("%S", at) or #text + 1 end
  local function str()
    local from = at + 1
    at = text:find('"', from, true)
    local s = text:sub(from, at - 1)
    at = at + 1
    return (s:gsub("\\u(%x%x%x%x)", function(h) return string.char(tonumber(h, 16)) end))
  end
  function value()
    skip()
    local c = text:sub(at, at)
    if c == "{" then
      local t = {}
      at = at + 1
      skip()
      while text:sub(at, at) ~= "}" do
        local key = str()
        skip()
        at = at + 1
        t[key] = value()
        skip()
        if text:sub(at, at) == "," then at = at + 1 skip() end
      end
      at = at + 1
      return t
    elseif c == "[" then
      local t = {}
      at = at + 1
      skip()
      while text:sub(at, at) ~= "]" do
        t[#t + 1] = value()
        skip()
        if text:sub(at, at) == "," then at = at + 1 skip() end
      end
      at = at + 1
      return t
    elseif c == '"' then
      return str()
    end
    local token = text:match("^[%w%.%-+]+", at)
    at = at + #token
    if token == "true" then return true elseif token == "false" then return false end
    return tonumber(token)
  end
  return value()
end
local document = { people = {}, title = 'a "quoted" title' }
for i = 1, 300 do
  local tags = { "t" .. i % 7, "u" .. i % 5 }
  document.people[i] = { name = "person " .. i, tags = tags, score = i * 3.25, active = i % 3 == 0 }
end
local json = encode(document)
print("json", #json, encode(decode(json)) == json)

-- A calculator by recursive descent
local function evaluate(s)
  local tokens = {}
  for number, operator in s:gmatch("%s*(%d*%.?%d*)%s*([-+*/()^]?)") do
    if number ~= "" then tokens[#tokens + 1] = tonumber(number) end
    if operator ~= "" then tokens[#tokens + 1] = operator end
  end
  local i = 1
  local sum
  local function atom()
    local t = tokens[i]
    i = i + 1
    if t == "(" then
      local v = sum()
      i = i + 1
      return v
    elseif t == "-" then
      return -atom()
    end
    return t
  end
  local function power()
    local v = atom()
    if tokens[i] == "^" then i = i + 1 return v ^ power() end
    return v
  end
  local function product()
    local v = power()
    while tokens[i] == "*" or tokens[i] == "/" do
      local op = tokens[i]
      i = i + 1
      local w = power()
      v = op == "*" and v * w or v / w
    end
    return v
  end
  function sum()
    local v = product()
    while tokens[i] == "+" or tokens[i] == "-" do
      local op = tokens[i]
      i = i + 1
      local w = product()
      v = op == "+" and v + w or v - w
    end
    return v
  end
  return sum()
end
local result = 0
for i = 1, 500 do
  result = result + evaluate(i .. " * (3 + 4.5) - 2 ^ 3 / (1 + " .. i % 9 .. ") + -(2 - 7)")
end
print("calculator", string.format("%.6f", result))

-- Queens
local function queens(n)
  local solutions, columns, up, down = 0, {}, {}, {}
  local function place(row)
    if row > n then solutions = solutions + 1 return end
    for c = 1, n do
      if not columns[c] and not up[row + c] and not down[row - c] then
        columns[c], up[row + c], down[row - c] = true, true, true
        place(row + 1)
        columns[c], up[row + c], down[row - c] = nil, nil, nil
      end
    end
  end
  place(1)
  return solutions
end
print("queens", queens(6))

-- Matrices by metatables
local Matrix = {}
Matrix.__index = Matrix
function Matrix.new(n, f)
  local m = setmetatable({ n = n }, Matrix)
  for i = 1, n do
    m[i] = {}
    for j = 1, n do m[i][j] = f(i, j) end
  end
  return m
end
Matrix.__mul = function(a, b)
  return Matrix.new(a.n, function(i, j)
    local s = 0
    for k = 1, a.n do s = s + a[i][k] * b[k][j] end
    return s % 10007
  end)
end
Matrix.__add = function(a, b)
  return Matrix.new(a.n, function(i, j) return a[i][j] + b[i][j] end)
end
Matrix.__eq = function(a, b)
  for i = 1, a.n do for j = 1, a.n do if a[i][j] ~= b[i][j] then return false end end end
  return true
end
local a = Matrix.new(11, function(i, j) return i * j % 17 end)
local b = Matrix.new(11, function(i, j) return (i + j) % 5 end)
local c = a
for _ = 1, 6 do c = c * a + b end
print("matrix", c[3][4], a * (b + c) == a * b + a * c)

-- A binary heap
local heap = {}
local function push(x)
  local i = #heap + 1
  heap[i] = x
  while i > 1 and heap[i // 2] > heap[i] do
    heap[i], heap[i // 2] = heap[i // 2], heap[i]
    i = i // 2
  end
end
local function pop()
  local top, last = heap[1], table.remove(heap)
  if #heap == 0 then return top end
  heap[1] = last
  local i = 1
  while true do
    local least = i
    for child = 2 * i, 2 * i + 1 do
      if heap[child] and heap[child] < heap[least] then least = child end
    end
    if least == i then return top end
    heap[i], heap[least] = heap[least], heap[i]
    i = least
  end
end
for _ = 1, 1500 do push(rnd(100000)) end
local ordered, previous = true, -1
for _ = 1, 1500 do
  local x = pop()
  ordered, previous = ordered and x >= previous, x
end
print("heap", ordered)

-- LZW
local function compress(text)
  local dictionary, size, out, current = {}, 256, {}, ""
  for i = 0, 255 do dictionary[string.char(i)] = i end
  for ch in text:gmatch(".") do
    if dictionary[current .. ch] then
      current = current .. ch
    else
      out[#out + 1] = dictionary[current]
      dictionary[current .. ch] = size
      size, current = size + 1, ch
    end
  end
  out[#out + 1] = dictionary[current]
  return out
end
print("lzw", #compress(json:sub(1, 14000)))

-- Sets with operators, and a class hierarchy of shapes
local Set = {}
Set.__index = Set
function Set.of(list)
  local s = setmetatable({}, Set)
  for _, x in ipairs(list) do s[x] = true end
  return s
end
Set.__add = function(x, y)
  local s = setmetatable({}, Set)
  for k in pairs(x) do s[k] = true end
  for k in pairs(y) do s[k] = true end
  return s
end
Set.__len = function(s)
  local n = 0
  for _ in pairs(s) do n = n + 1 end
  return n
end
local union = Set.of({})
for i = 1, 60 do union = union + Set.of({ rnd(90), rnd(90), "x" .. rnd(20) }) end
print("sets", #union)

local Shape = {}
Shape.__index = Shape
function Shape:describe() return self.kind .. " of " .. string.format("%.1f", self:area()) end
local function class(parent, area)
  local k = setmetatable({ area = area }, { __index = parent })
  k.__index = k
  return k
end
local Circle = class(Shape, function(s) return math.pi * s.r ^ 2 end)
local Square = class(Shape, function(s) return s.r * s.r end)
local Cube = class(Square, function(s) return 6 * Square.area(s) end)
local described = 0
for i = 1, 1400 do
  local k = i % 3 == 0 and Circle or i % 3 == 1 and Square or Cube
  described = described + #setmetatable({ kind = "shape", r = i % 50 }, k):describe()
end
print("shapes", described)

-- Markdown to HTML
local paragraph = "Some **bold** text with `code` and a [link](http://x.y/z)."
local source = ("# Title *one*\n\n" .. paragraph .. "\n- item one\n- item *two*\n\n"):rep(55)
local html = {}
for line in source:gmatch("([^\n]*)\n") do
  line = line:gsub("&", "&amp;"):gsub("<", "&lt;")
  line = line:gsub("%*%*(.-)%*%*", "<b>%1</b>"):gsub("%*(.-)%*", "<i>%1</i>")
  line = line:gsub("`(.-)`", "<code>%1</code>")
  line = line:gsub("%[(.-)%]%((.-)%)", '<a href="%2">%1</a>')
  local level, title = line:match("^(#+)%s*(.*)")
  if level then
    line = ("<h%d>%s</h%d>"):format(#level, title, #level)
  elseif line:sub(1, 2) == "- " then
    line = "<li>" .. line:sub(3) .. "</li>"
  elseif line ~= "" then
    line = "<p>" .. line .. "</p>"
  end
  html[#html + 1] = line
end
print("markdown", #table.concat(html, "\n"))

-- Life on a torus, with string keys
local live = {}
for i = 1, 110 do live[rnd(24) .. "," .. rnd(24)] = true end
for _ = 1, 4 do
  local neighbours = {}
  for cell in pairs(live) do
    local x, y = cell:match("(%d+),(%d+)")
    for dx = -1, 1 do
      for dy = -1, 1 do
        if dx ~= 0 or dy ~= 0 then
          local key = (x + dx) % 24 .. "," .. (y + dy) % 24
          neighbours[key] = (neighbours[key] or 0) + 1
        end
      end
    end
  end
  local next_live = {}
  for cell, n in pairs(neighbours) do
    if n == 3 or n == 2 and live[cell] then next_live[cell] = true end
  end
  live = next_live
end
local alive = 0
for _ in pairs(live) do alive = alive + 1 end
print("life", alive)
