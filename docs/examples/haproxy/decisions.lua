-- What to advertise to a client, by its RTT: asked of adaptive-h3, remembered for some seconds. On any fault nothing is said.

local URL = os.getenv("H3_API") .. "/_h3/v1/decisions"
-- Where to connect to, ADDRESS:PORT; else HAProxy's resolvers are asked.
local ADDRESS = os.getenv("H3_API_ADDRESS")
local HEADERS = { ["authorization"] = { "Bearer " .. os.getenv("H3_TOKEN") } }
-- How long an answer holds, and so how late a new policy or the kill switch is obeyed.
local FRESH_S = 10
-- So soon it is asked again after a fault, or where no answer has come. Nobody waits for it, so a late one is used.
local RETRY_S = 5

-- By step of RTT. There are about 60 of them, so nothing has to be thrown away.
local answers = {}

-- Four steps to a doubling: answers barely differ within one.
local function step_of(rtt_us)
  return math.floor(4 * math.log(math.max(rtt_us, 50) / 1000, 2) + 0.5)
end

local function ask(step)
  local body = string.format('{"paths":[{"transport":"tcp","rttMs":%.3f}]}', 2 ^ (step / 4))
  local asked, reply = pcall(function()
    return core.httpclient():post({ url = URL, dst = ADDRESS, headers = HEADERS, body = body, timeout = 1000 * RETRY_S })
  end)
  local ok = asked and reply ~= nil and reply.status == 200
  answers[step] = { json = ok and reply.body or nil, until_s = core.now().sec + (ok and FRESH_S or RETRY_S) }
end

core.register_action("h3_ask", { "http-req" }, function(txn)
  -- Smoothed, by the kernel; there is none over a Unix socket.
  local rtt_us = txn.f:fc_rtt("us")
  if rtt_us == nil then return end
  local step = step_of(rtt_us)
  txn:set_priv(step)
  local known = answers[step]
  if known ~= nil and known.until_s > core.now().sec then return end
  -- Who comes meanwhile asks nothing, and is told what was told before: but not twice as long.
  local last = known and not known.asking and known.json or nil
  answers[step] = { json = last, until_s = core.now().sec + RETRY_S, asking = true }
  -- Not in this transaction: in HAProxy 2.6 the timeout does not hold for connecting, which gives up after 20 s.
  core.register_task(function() ask(step) end)
end)

core.register_action("h3_say", { "http-res" }, function(txn)
  local step = txn:get_priv()
  local known = step and answers[step]
  if not known or not known.json then return end
  local alt_svc = txn.c:json_query(known.json, "$.decisions[0].altSvc")
  if alt_svc and alt_svc ~= "" then txn.http:res_set_header("alt-svc", alt_svc) end
end)
