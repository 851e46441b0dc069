import type { ObservedCapability, SkillCapability } from '../../contracts/knowledge/skills/skill';
import { skillCapability } from '../../contracts/knowledge/skills/skill';
import type { ScanFinding, ScannedFile, SecurityPattern } from '../../contracts/knowledge/skills/skill-scan';
import { createLineRedactor, createRedactor, hasSecretShape } from '../../platform/log/redact';
import { redactUserPaths } from '../../platform/log/redact-user-paths';
import { cut } from '../../platform/text/cut';
import { wellFormed } from '../../platform/text/well-formed';
import { capabilitySigns } from './capability-signs';
import { isManifest, type SkillContent, type SkillFile } from './content';
import { foldedText, hiddenTextIn, visibleText } from './hidden-text';
import { readManifest, type SkillManifest } from './manifest';
import { structurePattern, type StructurePatternId } from './structure-patterns';
import { textPatterns } from './text-patterns';
import { windowsOf } from './windows';

/** Raised when the rules change: what was scanned by others is scanned again. */
export const rulesVersion = 1;

const maxFindings = 200;
/** Of one rule in one file. */
const maxRepeated = 5;
const maxEvidence = 5;
const excerptLength = 200;

/** What the files of a skill declare and do. */
export interface SkillAnalysis {
  name: string;
  description?: string;
  manifest: Pick<SkillManifest, 'state' | 'declared' | 'unknown'>;
  observed: ObservedCapability[];
  files: ScannedFile[];
  /** The first of them. */
  findings: ScanFinding[];
  /** How many there are. */
  findingCount: number;
  /** Absent when all of it was examined. */
  incomplete?: true;
}

type Where = 'script' | 'code' | 'prose';
const confidences: Readonly<Record<Where, number>> = { script: 0.9, code: 0.8, prose: 0.6 };

const isProse = (path: string): boolean => /\.(?:md|mdx|markdown|txt|rst)$/i.test(path);
const fence = /^\s{0,8}(?:```|~~~)/;
/** A link of markdown, or a command, that leads out of the skill. */
const outside = /(?:\]\(|@|\bsource\s{1,4}|\brequire\(["']|\bfrom\s{1,4}["'])(?:\.\/){0,4}\.\.\//;

/** The end of a line whose command continues on the next one, of which the rules see as much as this. */
const continued = /[\\|]\s{0,4}$/;
const carried = 300;

class Findings {
  readonly listed: ScanFinding[] = [];
  count = 0;
  private readonly redact = createRedactor();
  private readonly repeated = new Map<string, number>();

  add(pattern: SecurityPattern, at: { file: string; line?: number; text?: string }): void {
    const key = `${pattern.id}\n${at.file}`;
    const times = (this.repeated.get(key) ?? 0) + 1;
    this.repeated.set(key, times);
    if (times > maxRepeated) {
      return;
    }
    this.count += 1;
    if (this.listed.length >= maxFindings) {
      return;
    }
    const { id: patternId, title, category, severity, recommendation } = pattern;
    this.listed.push({
      ...{ patternId, title, category, severity },
      file: this.excerpt(at.file, 1_000),
      line: at.line ?? null,
      evidence: this.excerpt(at.text ?? '', excerptLength),
      recommendation,
    });
  }

  structure(id: StructurePatternId, file: string, text?: string): void {
    this.add(structurePattern(id), text === undefined ? { file } : { file, text });
  }

  /** What may be stored and shown of a hostile text. */
  excerpt(text: string, length: number): string {
    const clean = redactUserPaths(this.redact(visibleText(text).trim()));
    return wellFormed(cut(clean, length));
  }
}

class Observations {
  private readonly found = new Map<SkillCapability, ObservedCapability>();

  add(capability: SkillCapability, where: Where, evidence: { source: string; label: string }): void {
    const one = this.found.get(capability) ?? { capability, confidence: 0, evidence: [] };
    one.confidence = Math.max(one.confidence, confidences[where]);
    if (one.evidence.length < maxEvidence) {
      one.evidence.push(evidence);
    }
    this.found.set(capability, one);
  }

  list(): ObservedCapability[] {
    return skillCapability.options.flatMap((capability) => this.found.get(capability) ?? []);
  }
}

/** A secret and the label before it are at most this many words. */
const labelledWords = 4;

/** Where a cut text goes on with what is no rest of a secret. */
function firstWordsEnd(text: string): number {
  let end = 0;
  for (let words = 0; words < labelledWords && end < text.length; words += 1) {
    const at = text.slice(end).search(/\S\s/);
    end = at === -1 ? text.length : end + at + 1;
  }
  return end;
}

function lastWordStart(text: string): number {
  let start = text.length;
  while (start > 0 && text.charAt(start - 1).trim() !== '') {
    start -= 1;
  }
  return start;
}

function searchFile(file: SkillFile, found: { findings: Findings; observations: Observations }): void {
  const { findings, observations } = found;
  const prose = isProse(file.path);
  let inFence = false;
  const source = findings.excerpt(file.path, 1_000);
  let before = '';
  const redact = createLineRedactor(createRedactor());
  for (const { line, raw, cut: cutAt } of windowsOf(file.text ?? '')) {
    // What is cut in the middle of a word may be part of a secret, which has no shape then.
    const whole = raw.slice(cutAt.before ? firstWordsEnd(raw) : 0, cutAt.after ? lastWordStart(raw) : undefined);
    const evidence = redact(whole);
    if (raw.trim() === '') {
      continue;
    }
    const own = foldedText(raw);
    const text = before + own;
    before = continued.test(own) ? own.slice(-carried).replace(/\\\s{0,4}$/, ' ') : '';
    if (prose && fence.test(own)) {
      inFence = !inFence;
    }
    const where: Where = prose ? (inFence ? 'code' : 'prose') : 'script';
    for (const { capability, label, pattern, codeOnly } of capabilitySigns) {
      if (!(codeOnly && where === 'prose') && pattern.test(text)) {
        observations.add(capability, where, { source: `${source}:${line}`, label });
      }
    }
    for (const rule of textPatterns) {
      if (rule.patterns.some((pattern) => pattern.test(text))) {
        findings.add(rule, { file: file.path, line, text: evidence });
      }
    }
    // A mark of the byte order may begin a file.
    const shown = line === 1 ? raw.replace(/^\ufeff/, '') : raw;
    for (const hidden of hiddenTextIn(shown.replace(/\r$/, ''))) {
      findings.add(structurePattern(hidden), { file: file.path, line, text: evidence });
    }
    if (hasSecretShape(text, { atStart: true, atEnd: true })) {
      findings.add(structurePattern('secret-in-file'), { file: file.path, line, text: evidence });
    }
    if (outside.test(text)) {
      findings.add(structurePattern('reference-outside'), { file: file.path, line, text: evidence });
    }
  }
}

const structureOf = {
  binary: 'binary-file',
  'too-large': 'oversized-file',
  'symbolic-link': 'symbolic-link',
  special: 'special-file',
  unreadable: 'unreadable-file',
} as const;

/** Examines the files of a skill, without running any of them; its time is linear in their length. */
export function analyzeSkill({ name, isSkill, files, omitted }: SkillContent): SkillAnalysis {
  const [findings, observations] = [new Findings(), new Observations()];
  const text = files.find(({ path }) => isManifest(path))?.text;
  const manifest: SkillManifest = text === undefined ? { state: 'missing', unknown: [] } : readManifest(text);
  if (manifest.state === 'invalid') {
    findings.structure('manifest-invalid', 'SKILL.md', manifest.problem);
  } else if (manifest.state === 'missing' && isSkill) {
    findings.structure('manifest-missing', 'SKILL.md');
  }
  if (omitted.files) {
    findings.structure('too-many-files', '.');
  }
  if (omitted.depth) {
    findings.structure('deep-directories', '.');
  }
  for (const file of files) {
    if (hiddenTextIn(file.path).length > 0) {
      findings.structure('invisible-text', file.path, file.path);
    }
    if (file.kind === 'text') {
      searchFile(file, { findings, observations });
    } else {
      findings.structure(structureOf[file.kind], file.path, file.target);
    }
  }
  return {
    name: findings.excerpt(manifest.name ?? name, 200) || 'unnamed',
    ...(manifest.description !== undefined && { description: findings.excerpt(manifest.description, 1_000) }),
    manifest: {
      state: manifest.state,
      unknown: manifest.unknown.map((one) => findings.excerpt(one, 100)),
      ...(manifest.declared && { declared: manifest.declared }),
    },
    observed: observations.list(),
    files: files.map(({ path, kind, bytes }) => ({ path: findings.excerpt(path, 1_000), kind, bytes })),
    findings: findings.listed,
    findingCount: findings.count,
  };
}

/** What is known of a skill whose examination did not end: it is not safe. */
export function notExamined({ name, files }: Pick<SkillContent, 'name' | 'files'>): SkillAnalysis {
  const findings = new Findings();
  findings.structure('not-examined', '.');
  return {
    name: findings.excerpt(name, 200) || 'unnamed',
    manifest: { state: 'missing', unknown: [] },
    observed: [],
    files: files.map(({ path, kind, bytes }) => ({ path: findings.excerpt(path, 1_000), kind, bytes })),
    findings: findings.listed,
    findingCount: 1,
    incomplete: true,
  };
}
