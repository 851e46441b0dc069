import type { SkillProfile } from '../../contracts/knowledge/skills/skill';
import type { ScanFinding } from '../../contracts/knowledge/skills/skill-scan';

/** Text of a skill in a line of markdown, which it may not break or fill with marks. */
const quoted = (text: string): string => `\`${text.replace(/[`\r\n]/g, "'")}\``;

const titled = (what: string, name: string): string => `${what}: ${name.replace(/[<>\r\n]/g, ' ')}`.slice(0, 200);

/** A task that brings what a skill declares and what it does together. */
export function capabilityTask({ name, path, digest, findings }: SkillProfile): { title: string; description: string } {
  const lines = findings.map(({ severity, message }) => `- ${severity}: ${message}`);
  return {
    title: titled('Align the capabilities of a skill', name),
    description: [
      `What the skill ${quoted(path)} declares and what its files do differ (${digest}).`,
      '',
      ...lines,
      '',
      'Declare what it needs under `capabilities` in the front matter of its SKILL.md, and remove what it does not need.',
    ].join('\n'),
  };
}

/** A task that removes what a scan has found. */
export function securityTask(
  { name, path, digest }: Pick<SkillProfile, 'name' | 'path' | 'digest'>,
  findings: readonly ScanFinding[],
): { title: string; description: string } {
  const lines = findings
    .slice(0, 50)
    .map(
      ({ severity, title, file, line, recommendation }) =>
        `- ${severity}: ${title} (${quoted(`${file}${line === null ? '' : `:${line}`}`)}). ${recommendation}`,
    );
  const more = findings.length > 50 ? [`- ${findings.length - 50} more, which a scan lists.`] : [];
  return {
    title: titled('Fix the findings of a skill', name),
    description: [`A scan of the skill ${quoted(path)} has findings (${digest}).`, '', ...lines, ...more].join('\n'),
  };
}
