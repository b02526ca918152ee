-- Where the input of a report comes from. Until it is fetched by a reference it is empty, and its
-- hash is zero.
ALTER TABLE report ADD COLUMN input_from TEXT NOT NULL
  DEFAULT 'forwarded' CHECK (input_from IN ('forwarded', 'reference', 'fetched'));
