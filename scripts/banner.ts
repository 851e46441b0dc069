import { smallServices } from '../platform/config/settings/start';
import type { RunningService } from './start-all';

/** What a person needs to know of a service that has started: what is up, what is not, and where. */
export function banner(service: RunningService): string {
  const { apiUrl, pageUrl, temporalUiUrl, temporalAddress, temporalCommand, serviceUrls, dataDir } = service;
  const off = smallServices.filter((name) => serviceUrls[name] === undefined);
  const rows: [name: string, value: string][] = [
    ...(pageUrl === undefined ? [] : [['Page', pageUrl] as [string, string]]),
    ['API', `${apiUrl}/api`],
    ['OpenAPI', `${apiUrl}/api/openapi.json`],
    ['Worker', 'takes runs'],
    ...smallServices.flatMap((name): [string, string][] => {
      const url = serviceUrls[name];
      return url === undefined ? [] : [[name, url]];
    }),
    ['Temporal', temporalAddress],
    ...(temporalUiUrl ? [['Temporal UI', temporalUiUrl] as [string, string]] : []),
    ['Workflows', temporalCommand],
    ['Data', dataDir],
    ...(off.length > 0
      ? [['Off', `${off.join(', ')} (SERVICES=${off.length > 1 ? 'all' : off.join()})`] as [string, string]]
      : []),
  ];
  const lines = rows.map(([name, value]) => `    ${name.padEnd(14)} ${value}`);
  const unused = service.unusedSettings.map(
    ({ setting, service: name }) => `    ${setting} is set, but ${name} is not started: SERVICES=${name}`,
  );
  return [
    '',
    '  Runboard is running (Ctrl-C stops it)',
    '',
    ...lines,
    ...(unused.length > 0 ? ['', ...unused] : []),
    '',
  ].join('\n');
}

/** A word of a shell command, quoted where the shell would read it otherwise. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
