package directory

import "github.com/redis/go-redis/v9"

// KEYS of all scripts: state, a hash of life, epoch and seq; moves, the shards by the step of their last move, and the
// epoch at 0; marks, the open marks by the time at which they run out, 0 when they have; mark:, before the number of an
// open mark it names the text of its shards; settled, the documents that were settled. ARGV[1] names an epoch, should
// one begin.

// begin starts an epoch where there is none: Redis lost its memory, or this is another life of it than the one in
// which the epoch began. A server draws a new master_replid whenever it starts or is promoted, so what was set back or
// lacks the last writes begins anew. So does one in which a thousand marks have run out.
const begin = `
local life = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
if not life then return redis.error_reply('INFO has no master_replid') end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local state = redis.call('HMGET', KEYS[1], 'life', 'epoch', 'seq')
local epoch, seq = state[2], tonumber(state[3] or nil)
local marks = redis.call('ZRANGE', KEYS[3], 0, -1, 'WITHSCORES')
if state[1] ~= life or not epoch or not seq or #marks > 2000 or
  redis.call('ZRANGEBYSCORE', KEYS[2], 0, 0)[1] ~= epoch then
  for i = 1, #marks, 2 do redis.call('DEL', KEYS[4] .. marks[i]) end
  redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[5])
  epoch, seq, marks = ARGV[1], 0, {}
  redis.call('HSET', KEYS[1], 'life', life, 'epoch', epoch, 'seq', seq)
  redis.call('ZADD', KEYS[2], 0, epoch)
end
local function step()
  seq = seq + 1
  redis.call('HSET', KEYS[1], 'seq', seq)
end
`

// report returns the epoch, its last step, the open marks, and the shards that moved after the step that the caller
// knows, if it knows this epoch. A mark whose time is over runs out first: its shards move, and it stays open, since
// its writer may only be asleep. ARGV: a new epoch, the caller's epoch and step.
const report = `
local open = {}
for i = 1, #marks, 2 do
  local ends = tonumber(marks[i + 1])
  if ends > 0 and ends <= now then
    step()
    for shard in string.gmatch(redis.call('GET', KEYS[4] .. marks[i]) or '', '%d+') do
      redis.call('ZADD', KEYS[2], seq, shard)
    end
    redis.call('ZADD', KEYS[3], 0, marks[i])
    redis.call('DEL', KEYS[4] .. marks[i])
  end
  table.insert(open, tonumber(marks[i]))
end
local moved = {}
if epoch == ARGV[2] and tonumber(ARGV[3]) < seq then
  moved = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. ARGV[3], '+inf', 'WITHSCORES')
end
return {epoch, seq, open, moved}`

// look only reports.
var look = redis.NewScript(begin + report)

// open opens a mark and returns the epoch and the mark's number, its step. ARGV: a new epoch, milliseconds until it
// runs out, its shards as one text.
var open = redis.NewScript(begin + `
step()
redis.call('ZADD', KEYS[3], now + tonumber(ARGV[2]), seq)
redis.call('SET', KEYS[4] .. seq, ARGV[3])
return {epoch, seq}`)

// end moves shards and ends a mark, if it is one of this epoch. ARGV: a new epoch, the mark's epoch and number, shards.
var end = redis.NewScript(begin + `
if #ARGV > 3 then step() end
for i = 4, #ARGV do redis.call('ZADD', KEYS[2], seq, ARGV[i]) end
if epoch == ARGV[2] then
  redis.call('ZREM', KEYS[3], ARGV[3])
  redis.call('DEL', KEYS[4] .. ARGV[3])
end
return seq`)

// settle moves the shards of those documents whose mark is not known to be closed and which were not settled before,
// and reports. ARGV: those of report; of each document its name, the epoch and the number of its mark, how many shards
// it has, and these.
var settle = redis.NewScript(begin + `
local stands, last = {}, seq
for i = 1, #marks, 2 do stands[marks[i]] = true end
local i = 4
while ARGV[i] do
  local mark, n = ARGV[i + 2], tonumber(ARGV[i + 3])
  local closed = ARGV[i + 1] == epoch and tonumber(mark) <= last and not stands[mark]
  if not closed and redis.call('SADD', KEYS[5], ARGV[i]) == 1 then
    if seq == last then step() end
    for shard = i + 4, i + 3 + n do redis.call('ZADD', KEYS[2], seq, ARGV[shard]) end
  end
  i = i + 4 + n
end
` + report)
