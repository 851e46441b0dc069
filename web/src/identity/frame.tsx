import type { ReactNode } from 'react';
import s from './frame.module.css';

/** The frame of what is shown before a person has signed in. */
export function Frame({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className={s.frame}>
      <div className={s.box}>
        <div className="row">
          <img src="/icon.svg" alt="" width={28} height={28} />
          <strong>Runboard</strong>
        </div>
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  );
}
