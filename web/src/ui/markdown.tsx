import { Fragment, memo, type ReactNode } from 'react';

/** Code, bold, emphasis and links of a line; no markup of the text is passed on. */
const inlinePattern =
  /`([^`]+)`|\*\*([^*]+)\*\*|(?<![\w*])[*_]([^*_\s][^*_]*)[*_](?![\w*])|\[([^\]]+)\]\((https?:\/\/[^\s)]+)\)|(https?:\/\/[^\s<>)\]]+)/g;

function inline(text: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(inlinePattern)) {
    const [whole, code, bold, emphasis, label, href, url] = match;
    parts.push(text.slice(end, match.index));
    end = match.index + whole.length;
    const address = href ?? url;
    parts.push(
      code !== undefined ? (
        <code key={match.index}>{code}</code>
      ) : bold !== undefined ? (
        <strong key={match.index}>{bold}</strong>
      ) : emphasis !== undefined ? (
        <em key={match.index}>{emphasis}</em>
      ) : (
        <a key={match.index} href={address} target="_blank" rel="noopener noreferrer">
          {label ?? url}
        </a>
      ),
    );
  }
  parts.push(text.slice(end));
  return parts;
}

const listItem = /^\s*(?:[-*+]|\d+[.)])\s+(.*)$/;
const startsBlock = /^(?:#{1,6}\s|```|>|\s*(?:[-*+]|\d+[.)])\s)/;

function List({ lines }: { lines: string[] }) {
  const Tag = /^\s*\d/.test(lines[0] ?? '') ? 'ol' : 'ul';
  return (
    <Tag>
      {lines.map((line, index) => {
        const text = listItem.exec(line)?.[1] ?? line;
        const box = /^\[([ xX])\]\s+(.*)$/.exec(text);
        return box ? (
          <li key={index} className="check">
            <span aria-hidden>{box[1] === ' ' ? '☐' : '☑'} </span>
            <span className="sr">{box[1] === ' ' ? 'open: ' : 'done: '}</span>
            {inline(box[2] ?? '')}
          </li>
        ) : (
          <li key={index}>{inline(text)}</li>
        );
      })}
    </Tag>
  );
}

function blocks(text: string): ReactNode[] {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const result: ReactNode[] = [];
  let at = 0;
  const takeWhile = (accept: (line: string) => boolean): string[] => {
    const from = at;
    while (at < lines.length && accept(lines[at] ?? '')) {
      at += 1;
    }
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at] ?? '';
    const key = at;
    if (line.trim() === '') {
      at += 1;
    } else if (line.startsWith('```')) {
      at += 1;
      const code = takeWhile((each) => !each.startsWith('```'));
      at += 1;
      result.push(
        <pre key={key} tabIndex={0}>
          <code>{code.join('\n')}</code>
        </pre>,
      );
    } else if (/^#{1,6}\s/.test(line)) {
      at += 1;
      result.push(
        <h3 key={key} className="mdh">
          {inline(line.replace(/^#+\s+/, ''))}
        </h3>,
      );
    } else if (line.startsWith('>')) {
      const quoted = takeWhile((each) => each.startsWith('>')).map((each) => each.replace(/^>\s?/, ''));
      result.push(<blockquote key={key}>{inline(quoted.join('\n'))}</blockquote>);
    } else if (listItem.test(line)) {
      result.push(<List key={key} lines={takeWhile((each) => listItem.test(each))} />);
    } else {
      const paragraph = [line];
      at += 1;
      paragraph.push(...takeWhile((each) => each.trim() !== '' && !startsBlock.test(each)));
      result.push(
        <p key={key}>
          {paragraph.map((each, index) => (
            <Fragment key={index}>
              {index > 0 ? <br /> : null}
              {inline(each)}
            </Fragment>
          ))}
        </p>,
      );
    }
  }
  return result;
}

/** Text in markdown as elements: headings, lists, quotes, code, emphasis and links. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return <div className="md">{blocks(text)}</div>;
});
