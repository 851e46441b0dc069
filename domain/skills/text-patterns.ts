import type { SecurityPattern } from '../../contracts/knowledge/skills/skill-scan';

/**
 * A rule that searches text. Patterns have bounded quantifiers only, and search one window of a line (`windows.ts`): their time is
 * linear in the length of a file.
 */
export interface TextPattern extends SecurityPattern {
  patterns: readonly RegExp[];
}

const shell = '(?:sudo\\s{1,8})?(?:/(?:usr/)?bin/)?(?:env\\s{1,4})?(?:ba|z|da|k)?sh\\b';
const interpreter = `(?:${shell}|(?:sudo\\s{1,8})?(?:python3?|node|perl|ruby|php)\\b)`;

/** What the scan searches the text of files for. */
export const textPatterns: readonly TextPattern[] = [
  {
    id: 'remote-code',
    title: 'Code from the network is executed',
    category: 'code-execution',
    severity: 'critical',
    recommendation: 'Have the code in the skill, or fetch it at a pinned digest and review it.',
    patterns: [
      new RegExp(`\\b(?:curl|wget)\\b[^\\n|]{0,300}?\\|\\s{0,8}${interpreter}`, 'i'),
      new RegExp(`${interpreter}\\s{0,4}(?:-c\\s{0,4})?["']?(?:<\\(|\\$\\(|\`)\\s{0,4}(?:curl|wget)\\b`, 'i'),
      /\b(?:iex|Invoke-Expression)\b[^\n]{0,200}?\b(?:DownloadString|Invoke-WebRequest|iwr)\b/i,
      /\b(?:eval|exec)\s{0,4}\([^\n]{0,80}?\b(?:requests\.get|urlopen|fetch)\s{0,4}\(/i,
    ],
  },
  {
    id: 'encoded-code',
    title: 'Encoded code is executed',
    category: 'code-execution',
    severity: 'critical',
    recommendation: 'Have the code in plain text.',
    patterns: [
      new RegExp(`\\bbase64\\s{1,4}(?:-d|-D|--decode)\\b[^\\n]{0,200}?\\|\\s{0,8}${interpreter}`, 'i'),
      /\b(?:eval|exec)\s{0,4}\(\s{0,4}(?:atob|unescape|base64\.|Buffer\.from|bytes\.fromhex|codecs\.decode|zlib\.)/i,
      /\bpowershell\b[^\n]{0,100}?\s-e(?:nc|ncodedcommand)?\s/i,
    ],
  },
  {
    id: 'reverse-shell',
    title: 'A shell is opened to another machine',
    category: 'code-execution',
    severity: 'critical',
    recommendation: 'Do not install it.',
    patterns: [
      /\/dev\/(?:tcp|udp)\/[^\s]/i,
      /\bn(?:c|cat)\b[^\n]{0,80}?\s-[a-z]{0,4}e\s/i,
      /\bdup2\s{0,4}\([^\n]{0,60}?fileno\b/i,
      /\bsh\s{1,4}-i\s{0,4}[>&0-9]/i,
    ],
  },
  {
    id: 'dynamic-code',
    title: 'Code is made at run time',
    category: 'code-execution',
    severity: 'medium',
    recommendation: 'Replace it by code that can be read.',
    patterns: [/(?<![.\w])(?:eval|exec)\s{0,4}\(/, /\bnew\s{1,4}Function\s{0,4}\(/, /(?:^|[\s;&|])eval\s{1,4}["'$`]/],
  },
  {
    id: 'credential-file',
    title: 'Files with credentials are used',
    category: 'credentials',
    severity: 'high',
    recommendation: 'Take credentials by a reference such as `env:NAME`, and only those that it needs.',
    patterns: [
      /(?:~|\$HOME|\/root|\/home\/[^/\s]{1,64})\/\.(?:ssh|aws|gnupg|kube|docker|netrc|npmrc|pypirc|git-credentials)\b/i,
      /\bid_(?:rsa|ed25519|ecdsa)\b|\/etc\/shadow\b|\bLogin Data\b|\bcookies\.sqlite\b|\bwallet\.dat\b/i,
      /\b(?:cat|cp|tar|zip|curl)\b[^\n]{0,100}?(?:^|[\s/'"@])\.env\b/i,
    ],
  },
  {
    id: 'exfiltration',
    title: 'Data of the host is sent away',
    category: 'exfiltration',
    severity: 'critical',
    recommendation: 'Do not install it, unless the receiver and the data are known.',
    patterns: [
      /\b(?:printenv|env|set)\b\s{0,8}\|[^\n]{0,100}?\b(?:curl|wget|nc|ncat)\b/i,
      /\b(?:curl|wget)\b[^\n]{0,200}?(?:-d|--data(?:-[a-z]{1,12})?|-F|-T|--upload-file|--post-(?:data|file))[\s=]{1,4}[^\n]{0,60}?(?:\$\(|`|@?~\/|@\/|\.env\b|\.ssh\b|credentials)/i,
      /\b(?:webhook\.site|requestbin\.\w|pipedream\.net|ngrok(?:-free)?\.(?:io|app)|burpcollaborator\.net|oastify\.com|interact\.sh|transfer\.sh)\b/i,
    ],
  },
  {
    id: 'destructive-command',
    title: 'Data is destroyed',
    category: 'destruction',
    severity: 'critical',
    recommendation: 'Limit it to paths that the skill has made.',
    patterns: [
      /\brm\s{1,8}(?:-[a-z-]{1,24}\s{1,8}){1,4}["']?(?:\/|~|\$\{?HOME\}?)["']?(?:\/?\*|\/?["']?(?:\s|$|;|&))/i,
      /\bmkfs(?:\.\w{1,10})?\s|\bdd\b[^\n]{0,100}?\bof=\/dev\/|>\s{0,4}\/dev\/(?:sd|nvme|disk)/i,
      /:\(\)\s{0,4}\{\s{0,4}:\s{0,4}\|/,
      /\bshutil\.rmtree\(\s{0,4}["'](?:\/|~)["']/i,
    ],
  },
  {
    id: 'privilege-escalation',
    title: 'Privileges are raised',
    category: 'privileges',
    severity: 'high',
    recommendation: 'Have it work with the rights of its agent.',
    patterns: [
      /(?:^|[\s;&|`($])(?:sudo|doas|pkexec)\s{1,4}[-\w/$]/,
      /\bchmod\s{1,4}(?:-R\s{1,4})?(?:0?777|[ugoa]{0,3}\+s)\b|\/etc\/sudoers\b|\bsetcap\s/i,
    ],
  },
  {
    id: 'persistence',
    title: 'Something is made to start again',
    category: 'persistence',
    severity: 'high',
    recommendation: 'Use a scheduled launch, which can be seen and paused.',
    patterns: [
      /\bcrontab\s{1,4}(?:-[^l]|[^-\s]|$)|\/etc\/cron|\bschtasks\b[^\n]{0,60}?\/create/i,
      /\bsystemctl\s{1,4}(?:--user\s{1,4})?enable\b|\blaunchctl\s{1,4}(?:load|bootstrap)\b/i,
      />{1,2}\s{0,4}[^\s]{0,80}?(?:\.(?:bashrc|zshrc|profile|bash_profile)|authorized_keys|\.git\/hooks\/)/i,
    ],
  },
  {
    id: 'instruction-override',
    title: 'Instructions of others are overridden',
    category: 'instructions',
    severity: 'critical',
    recommendation: 'Do not install it.',
    patterns: [
      /\b(?:ignore|disregard|forget|override)\s{1,8}(?:all\s{1,8}|any\s{1,8}|the\s{1,8}|your\s{1,8}|of\s{1,8}){0,3}(?:previous|prior|above|earlier|preceding|system|safety|existing)\s{1,8}(?:\w{1,20}\s{1,8}){0,2}(?:instruction|rule|prompt|guideline|polic|message)/i,
      /\byou\s{1,8}are\s{1,8}(?:now\s{1,8})?(?:in\s{1,8}(?:developer|god|admin|unrestricted)\s{1,8}mode|DAN\b|jailbroken)/i,
      /(?:^|\s)<\/?(?:system|system-reminder|\|im_start\||assistant)>|\[\/?INST\]/i,
    ],
  },
  {
    id: 'concealment',
    title: 'Something is hidden from people',
    category: 'instructions',
    severity: 'high',
    recommendation: 'Do not install it, unless its author explains what is hidden and why.',
    patterns: [
      /\b(?:do\s{1,4}not|don'?t|never)\s{1,8}(?:tell|inform|mention|reveal|show|notify|report|disclose|alert)\b[^\n]{0,60}?\b(?:user|human|operator|person|people|anyone|owner)\b/i,
      /\bwithout\s{1,8}(?:asking|telling|informing|notifying|the\s{1,4}knowledge\s{1,4}of)\s{1,8}(?:the\s{1,8}|any\s{1,8})?(?:user|human|operator|owner|one)/i,
      /\b(?:silently|secretly|covertly)\s{1,8}(?:send|upload|post|copy|run|execute|install|delete|collect)/i,
    ],
  },
  {
    id: 'approval-bypass',
    title: 'Approvals or sandboxes are bypassed',
    category: 'instructions',
    severity: 'high',
    recommendation: 'Have people approve what needs approval.',
    patterns: [
      /--dangerously-(?:skip-permissions|bypass-approvals)|--yolo\b|--full-auto\b|\bdangerouslyDisableSandbox\b/i,
      /\b(?:bypass|skip|disable|circumvent|turn\s{1,4}off)\s{1,8}(?:all\s{1,8}|any\s{1,8}|the\s{1,8}){0,2}(?:permission|approval|sandbox|safety|security|confirmation)/i,
    ],
  },
  {
    id: 'insecure-transport',
    title: 'Connections are not protected',
    category: 'network',
    severity: 'medium',
    recommendation: 'Verify certificates.',
    patterns: [
      /\bcurl\b[^\n]{0,200}?\s(?:-[a-z]{0,6}k|--insecure)(?:\s|$)|\bwget\b[^\n]{0,200}?--no-check-certificate/i,
      /\bverify\s{0,4}=\s{0,4}False\b|\bNODE_TLS_REJECT_UNAUTHORIZED\b|\brejectUnauthorized\s{0,4}:\s{0,4}false|\bStrictHostKeyChecking[=\s]{1,4}no\b/i,
    ],
  },
  {
    id: 'unpinned-package',
    title: 'Packages are installed that are not pinned',
    category: 'supply-chain',
    severity: 'medium',
    recommendation: 'Name the version of every package, or have them in the repository.',
    patterns: [
      /\bnpx\s{1,4}(?:-y|--yes)\b|\b(?:uvx|pipx\s{1,4}run|bunx|pnpm\s{1,4}dlx)\s{1,4}[-@\w]/i,
      /\bpip3?\s{1,4}install\s{1,4}(?!-r\b|-e\b|\.)(?![^\n]{0,200}==)[-\w]/i,
      /\b(?:npm|pnpm|yarn)\s{1,4}(?:i|install|add)\s{1,4}(?:-g|--global)\b|\byarn\s{1,4}global\s{1,4}add\b/i,
    ],
  },
  {
    id: 'encoded-data',
    title: 'A long text is encoded',
    category: 'text',
    severity: 'medium',
    recommendation: 'Have the data in a form that can be read.',
    patterns: [/[A-Za-z0-9+/]{300}/, /(?:\\x[0-9a-f]{2}){40}/i],
  },
  {
    id: 'hidden-comment',
    title: 'A comment has instructions that are not shown',
    category: 'text',
    severity: 'medium',
    recommendation: 'Have instructions where readers see them.',
    patterns: [
      /<!--[^\n]{0,400}?\b(?:you|must|always|never|run|execute|send|ignore|agent|assistant|system)\b/i,
      /<[a-z]{1,10}\s[^>\n]{0,100}?(?:display\s{0,4}:\s{0,4}none|visibility\s{0,4}:\s{0,4}hidden|font-size\s{0,4}:\s{0,4}0)/i,
    ],
  },
];
