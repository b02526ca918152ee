//! Writes the bytes that a fuzzer starts from: `seeds NAME FOLDER`.

use std::{env, error::Error, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let (name, folder) = (env::args().nth(1), env::args().nth(2));
    let (name, folder) = name.zip(folder).ok_or("seeds NAME FOLDER")?;
    fs::create_dir_all(&folder)?;
    for (index, seed) in fencepost_fuzz::seeds(&name).iter().enumerate() {
        fs::write(Path::new(&folder).join(format!("seed-{index}")), seed)?;
    }
    Ok(())
}
