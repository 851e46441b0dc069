import { read } from '../../docs/pages';

/** A fenced block of shell commands on a page. */
export interface Block {
  /** The page and the first line of the commands, by which the block is listed where it cannot be run. */
  name: string;
  page: string;
  commands: string;
}

/** The blocks of a page that are marked as shell, or that are not marked and call something. */
export const blocksOf = (page: string): Block[] =>
  [...read(page).matchAll(/^ *```(\w*)\n([^]*?)\n *```$/gm)]
    .filter(([, language = '', text = '']) => language === 'sh' || (language === '' && /^ *(?:curl|url=)/m.test(text)))
    .map(([, , commands = '']) => ({
      name: `${page}: ${commands.trim().split('\n')[0]?.trim() ?? ''}`,
      page,
      commands,
    }));
