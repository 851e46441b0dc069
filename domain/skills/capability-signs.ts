import type { SkillCapability } from '../../contracts/knowledge/skills/skill';

/**
 * A sign that a skill uses a capability. Patterns have bounded quantifiers only, and search one window of a line
 * (`windows.ts`): their time is linear in the length of a file.
 */
export interface CapabilitySign {
  capability: SkillCapability;
  label: string;
  pattern: RegExp;
  /** Only in scripts and blocks of code: in prose it is an ordinary word. */
  codeOnly?: true;
}

const secretName = '(?:API_?KEY|ACCESS_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)';

const signs: Readonly<Record<SkillCapability, readonly [label: string, pattern: RegExp, codeOnly?: true][]>> = {
  'filesystem.read': [
    ['file read', /\bfs(?:\.promises)?\.(?:read|createReadStream|open)|\breadFile(?:Sync)?\b|\.read_(?:text|bytes)\b/i],
    ['file opened', /\bopen\([^\n]{0,100}?(?:['"]r[bt]?['"]|\)\.read)|\bwith open\(/i],
    ['file printed', /(?:^|[\s;&|`($])(?:cat|head|tail|less|grep|find)\s{1,4}[-\w./~"'$]/, true],
  ],
  'filesystem.write': [
    [
      'file written',
      /\bfs(?:\.promises)?\.(?:write|append|mkdir|rm|unlink|rename|copy|createWrite)|\bwriteFile(?:Sync)?\b|\.write_(?:text|bytes)\b/i,
    ],
    ['file opened for writing', /\bopen\([^\n]{0,100}?['"][wax]b?\+?['"]/i],
    [
      'file changed by a command',
      /(?:^|[\s;&|`($])(?:mkdir|rm|rmdir|mv|cp|touch|tee|truncate|install)\s{1,4}[-\w./~"'$]/,
      true,
    ],
    ['output redirected', /(?:^|[^-=<>|&\d])\s{0,4}>{1,2}\s{0,4}["']?[./~$\w]/, true],
  ],
  'shell.execute': [
    [
      'child process',
      /\bchild_process\b|\b(?:exec|spawn)(?:File)?(?:Sync)?\(|\bsubprocess\.|\bos\.(?:system|popen|exec[lv])/i,
    ],
    ['shell script', /^#!\s{0,4}\/(?:usr\/)?bin\/(?:env\s{1,4})?(?:ba|z|da|k)?sh\b/],
    ['block of shell commands', /^\s{0,8}(?:```|~~~)\s{0,4}(?:ba|z|power)?(?:sh|shell|shell-session|console)\b/i],
    ['shell called', /\b(?:ba|z|da)?sh\s{1,4}-c\b|\bpowershell\b|\bcmd\.exe\b/i],
  ],
  'network.egress': [
    ['HTTP command', /\b(?:curl|wget)\s{1,4}[-\w"'$<{]/i],
    [
      'HTTP call',
      /\bfetch\(|\baxios\b|\bXMLHttpRequest\b|\brequests\.(?:get|post|put|patch|delete|request|session)\b|\burllib|\bhttp\.client\b|\bhttpx\.|\bInvoke-WebRequest\b/i,
    ],
    [
      'socket',
      /\bWebSocket\(|\bsocket\.(?:socket|create_connection)\b|\bnet\.(?:connect|createConnection)\b|\/dev\/tcp\//i,
    ],
    ['remote copy', /(?:^|[\s;&|`($])(?:scp|rsync|sftp|ssh|nc|ncat|ftp)\s{1,4}[-\w@./~"'$]/, true],
  ],
  'credential.access': [
    [
      'environment secret',
      new RegExp(`\\b(?:process\\.env|os\\.environ|os\\.getenv|getenv)\\b[^\\n]{0,60}?${secretName}`, 'i'),
    ],
    ['shell secret', new RegExp(`\\$\\{?[A-Z0-9_]{0,40}?${secretName}`)],
    [
      'credential file',
      /\.ssh\/|\.aws\/credentials|\.netrc\b|\.git-credentials|\.kube\/config|\.docker\/config\.json|\bid_(?:rsa|ed25519|ecdsa)\b|\/etc\/shadow/i,
    ],
    [
      'keychain',
      /\bkeyring\.get_password\b|\bfind-(?:generic|internet)-password\b|\bsecret-tool\b|\bgh\s{1,4}auth\s{1,4}token\b/i,
    ],
  ],
  'external.message': [
    ['mail', /\bsmtplib\b|\bsendmail\b|\bnodemailer\b|\bmailx?\s{1,4}-s\b|\bapi\.(?:sendgrid|mailgun)\b/i],
    [
      'chat webhook',
      /hooks\.slack\.com|chat\.postMessage|discord(?:app)?\.com\/api\/webhooks|api\.telegram\.org|webhook\.office\.com|\btwilio\b/i,
    ],
    ['message command', /\bgh\s{1,4}(?:pr|issue)\s{1,4}comment\b/i],
  ],
  'memory.write': [
    [
      'memory file changed',
      /\b(?:write|append|add|save|update|edit|insert)\b[^\n]{0,60}?\b(?:MEMORY|CLAUDE|AGENTS|GEMINI)\.md\b/i,
    ],
    ['memory file redirected to', />{1,2}\s{0,4}[^\s]{0,100}?(?:MEMORY|CLAUDE|AGENTS|GEMINI)\.md\b/i],
    [
      'memory call',
      /\bmemory\.(?:add|write|store|save|set|upsert)\(|\bremember\s{1,4}(?:this|that|it)\s{1,4}(?:for|in|across)\b/i,
    ],
  ],
  'task.mutate': [
    ['task endpoint', /(?:\b(?:POST|PUT|PATCH|DELETE)\b|-X|method)[^\n]{0,100}?\/api\/(?:v1\/)?(?:tasks|backlog)\b/i],
    ['issue command', /\b(?:gh|glab)\s{1,4}issue\s{1,4}(?:create|edit|close|reopen|delete)\b/i],
    ['task call', /\b(?:tasks?|issues?|tickets?)\.(?:create|update|delete|close|transition)\w{0,20}\(/i],
  ],
  'schedule.persist': [
    ['cron', /\bcrontab\b|\/etc\/cron|\bcron\.schedule\(|\bschtasks\b/i],
    [
      'service',
      /\bsystemctl\s{1,4}(?:--user\s{1,4})?enable\b|\blaunchctl\s{1,4}(?:load|bootstrap)\b|LaunchAgents\/|\/etc\/systemd\//i,
    ],
    ['start of a shell', />{1,2}\s{0,4}[^\s]{0,60}?\.(?:bashrc|zshrc|profile|bash_profile)\b/i],
    ['scheduled launch', /\/api\/(?:v1\/)?scheduled-launches\b/i],
  ],
  'browser.session': [
    ['browser automation', /\b(?:playwright|puppeteer|selenium|webdriver|chromedriver)\b|--remote-debugging-port/i],
    ['browser cookies', /\bdocument\.cookie\b|\bcookies\.sqlite\b|\bbrowser_cookie3\b/i],
  ],
  'mcp.tool': [
    ['tool of a server', /\bmcp__\w/i],
    [
      'tool server',
      /\bmodelcontextprotocol\b|\.mcp\.json\b|\bmcpServers\b|\buse_mcp_tool\b|\/api\/(?:v1\/)?tool-servers\b/i,
    ],
  ],
};

/** Every sign, with its capability. */
export const capabilitySigns: readonly CapabilitySign[] = Object.entries(signs).flatMap(([capability, all]) =>
  all.map(([label, pattern, codeOnly]) => ({
    capability: capability as SkillCapability,
    label,
    pattern,
    ...(codeOnly && { codeOnly }),
  })),
);
