package directory

import "github.com/redis/go-redis/v9"

// KEYS of all scripts: state, a hash of server, epoch and seq; versions, the shards by the step of their last change,
// and the epoch at 0; intents, the open intents by the time at which they expire, 0 when they have; intent:, before the
// number of an open intent it names the text of its shards; resolved, the documents that were resolved. ARGV[1] is the
// name of an epoch, should one begin.

// begin starts an epoch where there is none: Redis lost its memory, or its server is not the one in which the epoch
// began. A server draws a new master_replid whenever it starts or is promoted, so one that was set back or lacks the
// last writes starts an epoch. So does one with a thousand expired intents.
const begin = `
local server = string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
if not server then return redis.error_reply('INFO has no master_replid') end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local state = redis.call('HMGET', KEYS[1], 'server', 'epoch', 'seq')
local epoch, seq = state[2], tonumber(state[3] or nil)
local intents = redis.call('ZRANGE', KEYS[3], 0, -1, 'WITHSCORES')
if state[1] ~= server or not epoch or not seq or #intents > 2000 or
  redis.call('ZRANGEBYSCORE', KEYS[2], 0, 0)[1] ~= epoch then
  for i = 1, #intents, 2 do redis.call('DEL', KEYS[4] .. intents[i]) end
  redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[5])
  epoch, seq, intents = ARGV[1], 0, {}
  redis.call('HSET', KEYS[1], 'server', server, 'epoch', epoch, 'seq', seq)
  redis.call('ZADD', KEYS[2], 0, epoch)
end
local function step()
  seq = seq + 1
  redis.call('HSET', KEYS[1], 'seq', seq)
end
`

// report returns the epoch, its last step, the open intents, and the versions that changed after the step that the
// caller knows, if it knows this epoch. It first invalidates the shards of each intent whose time is over; the intent
// stays open, since its writer may only be slow. ARGV: a new epoch, the caller's epoch and step.
const report = `
local open = {}
for i = 1, #intents, 2 do
  local ends = tonumber(intents[i + 1])
  if ends > 0 and ends <= now then
    step()
    for shard in string.gmatch(redis.call('GET', KEYS[4] .. intents[i]) or '', '%d+') do
      redis.call('ZADD', KEYS[2], seq, shard)
    end
    redis.call('ZADD', KEYS[3], 0, intents[i])
    redis.call('DEL', KEYS[4] .. intents[i])
  end
  table.insert(open, tonumber(intents[i]))
end
local changed = {}
if epoch == ARGV[2] and tonumber(ARGV[3]) < seq then
  changed = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. ARGV[3], '+inf', 'WITHSCORES')
end
return {epoch, seq, open, changed}`

// snapshot only reports.
const snapshot = begin + report

var snapshotAlone = redis.NewScript(snapshot)

// Script is a script that can also take a snapshot, in the same command.
type Script struct{ alone, both *redis.Script }

// NewScript returns a script with that source. It may be repeated, and returns one value, not an error.
func NewScript(source string) *Script {
	return &Script{redis.NewScript(source), redis.NewScript(`
local function own(KEYS, ARGV)` + source + `
end
local function snapshot(KEYS, ARGV)` + snapshot + `
end
local keys, arguments = {}, {}
for i = 6, #KEYS do keys[i - 5] = KEYS[i] end
for i = 4, #ARGV do arguments[i - 3] = ARGV[i] end
local answer = own(keys, arguments)
local done, report = pcall(snapshot, KEYS, ARGV)
return {answer, done and report or false}`)}
}

// open opens an intent and returns the epoch and the intent's number, its step. ARGV: a new epoch, milliseconds until
// it expires, its shards as one text.
var open = redis.NewScript(begin + `
step()
redis.call('ZADD', KEYS[3], now + tonumber(ARGV[2]), seq)
redis.call('SET', KEYS[4] .. seq, ARGV[3])
return {epoch, seq}`)

// end invalidates shards and closes an intent of this epoch. ARGV: a new epoch, the intent's epoch and number, shards.
var end = redis.NewScript(begin + `
if #ARGV > 3 then step() end
for i = 4, #ARGV do redis.call('ZADD', KEYS[2], seq, ARGV[i]) end
if epoch == ARGV[2] then
  redis.call('ZREM', KEYS[3], ARGV[3])
  redis.call('DEL', KEYS[4] .. ARGV[3])
end
return seq`)

// resolve invalidates the shards of documents whose intent may be open, once for each document, and reports. ARGV: as
// for report; for each document its name, the epoch and the number of its intent, the number of its shards, and these.
var resolve = redis.NewScript(begin + `
local open, last = {}, seq
for i = 1, #intents, 2 do open[intents[i]] = true end
local i = 4
while ARGV[i] do
  local intent, n = ARGV[i + 2], tonumber(ARGV[i + 3])
  local closed = ARGV[i + 1] == epoch and tonumber(intent) <= last and not open[intent]
  if not closed and redis.call('SADD', KEYS[5], ARGV[i]) == 1 then
    if seq == last then step() end
    for shard = i + 4, i + 3 + n do redis.call('ZADD', KEYS[2], seq, ARGV[shard]) end
  end
  i = i + 4 + n
end
` + report)
