import { Button } from '../ui/button';
import { toast } from '../ui/toast';
import { Frame } from './frame';
import s from './frame.module.css';

/** Shows a recovery key, which is shown once. */
export function RecoveryKey({ value, onDone }: { value: string; onDone: () => void }) {
  const copy = () => void navigator.clipboard.writeText(value).then(() => toast('Copied the recovery key.'));
  return (
    <Frame title="Your recovery key">
      <p>It sets another password when this one is lost. It is shown this once: store it somewhere safe.</p>
      <p className={s.key}>{value}</p>
      <div className="row">
        <Button onClick={copy}>Copy</Button>
        <Button tone="primary" onClick={onDone}>
          I have stored it
        </Button>
      </div>
    </Frame>
  );
}
