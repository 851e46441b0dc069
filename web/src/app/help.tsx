import { Button } from '../ui/button';
import { Dialog } from '../ui/dialog';
import { Kbd } from '../ui/parts';
import s from './help.module.css';

const groups: [string, [string, string][]][] = [
  [
    'Everywhere',
    [
      ['⌘ K', 'Open anything'],
      [
        'g b',
        'Board (g p approvals, g u queue, g w workflows, g f fleet, g m metrics, g t chat, g l audit, g , settings)',
      ],
      ['?', 'This help'],
    ],
  ],
  [
    'Board',
    [
      ['j k', 'Next and previous card'],
      ['h l', 'Column to the left and to the right'],
      ['enter', 'Open the task'],
      ['space', 'Lift the card; arrows move it, space drops it, escape puts it back'],
      ['c', 'New task'],
      ['s', 'Start a run'],
      ['/', 'Search'],
    ],
  ],
  [
    'Task and run',
    [
      ['e', 'Edit the description'],
      ['s', 'Start a run'],
      ['x', 'Stop the run'],
      ['d', 'Show the diff'],
    ],
  ],
  [
    'Diff',
    [
      ['j k', 'Next and previous file'],
      ['a', 'Accept the result'],
      ['r', 'Send the result back'],
    ],
  ],
];

export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog label="Keys" onClose={onClose}>
      <div className="body">
        <h1>Keys</h1>
        {groups.map(([title, keys]) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl className={s.keys}>
              {keys.map(([key, what]) => (
                <div key={key}>
                  <dt>
                    {key.split(' ').map((part) => (
                      <Kbd key={part}>{part}</Kbd>
                    ))}
                  </dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <footer>
          <Button onClick={onClose}>Close</Button>
        </footer>
      </div>
    </Dialog>
  );
}
