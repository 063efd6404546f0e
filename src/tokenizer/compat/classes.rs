//! The tokenizer classes of `transformers` that read a tokenizer.json in a way of their own, as data.

/// What version 4 turns into a token object when it is a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Boxes {
    None,
    /// The ends, the unknown and the pad token.
    Basic,
    Mask,
}

/// How version 5 builds the tokenizer of a class.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Form {
    /// From the file as it is.
    File,
    ByteLevel,
    ByteLevelNfc,
    Llama,
    Gemma,
    WordPiece,
    Metaspace,
}

/// Whether version 5 adds all special tokens, the listed ones too, once more at the end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Again {
    No,
    /// Without their flags.
    Text,
    /// With their flags.
    Token,
}

/// A tokenizer class of transformers.
#[derive(Debug)]
pub(super) struct Class {
    /// Its names without `Tokenizer` and `Fast`.
    pub names: &'static [&'static str],
    /// Whether version 4 has it.
    pub in4: bool,
    /// The tokens it has when the config does not name them, in the order of [`NAMED`]; empty for none.
    pub defaults4: [&'static str; 7],
    pub boxes4: Boxes,
    pub defaults5: [&'static str; 7],
    pub form5: Form,
    pub again5: Again,
}

const END: &str = "<|endoftext|>";
const NONE: [&str; 7] = [""; 7];
const ROBERTA: [&str; 7] = ["<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"];
const BERT: [&str; 7] = ["", "", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"];

/// Most fields of most classes.
const PLAIN: Class = Class {
    names: &[],
    in4: true,
    defaults4: NONE,
    boxes4: Boxes::None,
    defaults5: NONE,
    form5: Form::File,
    again5: Again::No,
};

pub(super) const CLASSES: [Class; 11] = [
    Class {
        names: &["Llama"],
        defaults4: ["<s>", "</s>", "<unk>", "", "", "", ""],
        defaults5: ["<s>", "</s>", "<unk>", "", "", "", ""],
        form5: Form::Llama,
        ..PLAIN
    },
    Class {
        names: &["Gemma"],
        defaults4: ["<bos>", "<eos>", "<unk>", "", "<pad>", "", ""],
        defaults5: ["<bos>", "<eos>", "<unk>", "", "<pad>", "", "<mask>"],
        form5: Form::Gemma,
        ..PLAIN
    },
    Class {
        names: &["Qwen2"],
        defaults4: ["", END, END, "", END, "", ""],
        boxes4: Boxes::Basic,
        defaults5: ["", END, END, "", END, "", ""],
        form5: Form::ByteLevelNfc,
        again5: Again::Text,
        ..PLAIN
    },
    Class {
        names: &["Qwen3_5"],
        in4: false,
        defaults5: ["", END, END, "", END, "", ""],
        form5: Form::ByteLevelNfc,
        ..PLAIN
    },
    Class {
        names: &["GPT2"],
        defaults4: [END, END, END, "", "", "", ""],
        defaults5: [END, END, END, "", "", "", ""],
        form5: Form::ByteLevel,
        ..PLAIN
    },
    Class {
        names: &["GPTNeoX"],
        defaults4: [END, END, END, "", "", "", ""],
        defaults5: [END, END, END, "", "<|padding|>", "", ""],
        form5: Form::ByteLevelNfc,
        ..PLAIN
    },
    Class {
        names: &["Cohere"],
        defaults4: ["<BOS_TOKEN>", "<|END_OF_TURN_TOKEN|>", "<UNK>", "", "", "", ""],
        defaults5: ["<BOS_TOKEN>", "<|END_OF_TURN_TOKEN|>", "<UNK>", "<SEP>", "<PAD>", "<CLS>", "<MASK_TOKEN>"],
        form5: Form::ByteLevelNfc,
        again5: Again::Token,
        ..PLAIN
    },
    Class {
        names: &["Roberta", "Bart"],
        defaults4: ROBERTA,
        boxes4: Boxes::Mask,
        defaults5: ROBERTA,
        form5: Form::ByteLevel,
        ..PLAIN
    },
    Class {
        names: &["Bert", "DistilBert", "Electra"],
        defaults4: BERT,
        defaults5: BERT,
        form5: Form::WordPiece,
        ..PLAIN
    },
    Class {
        names: &["XLMRoberta"],
        defaults4: ROBERTA,
        boxes4: Boxes::Mask,
        defaults5: ROBERTA,
        form5: Form::Metaspace,
        ..PLAIN
    },
    Class { names: &["Bloom"], defaults4: ["<s>", "</s>", "<unk>", "", "<pad>", "", ""], ..PLAIN },
];

/// Classes that transformers has and that are not known here. Any other name means the class that reads any file.
pub(super) const OTHER_CLASSES: &str = "Albert Barthez Bartpho BertGeneration BertJapanese Bertweet BigBird BioGpt BlenderbotSmall \
    Blenderbot ByT5 CLIP CTRL Camembert Canine Clvp CodeGen CodeLlama ConvBert CpmAnt Cpm DPRContextEncoder \
    DPRQuestionEncoder DPRReader Deberta DebertaV2 Dia ErnieM Esm Esmc FNet FSMT FastSpeech2Conformer Flaubert Funnel \
    GPTNeoXJapanese GPTSanJapanese GPTSw3 Herbert Jukebox LED Lasr LayoutLM LayoutLMv2 LayoutLMv3 LayoutXLM Longformer Luke \
    Lxmert M2M100 MBart50 MBart MLuke MPNet MT5 Marian MarkupLM Mgpstr MistralCommon MobileBert Mvp MyT5 Nllb Nougat \
    OpenAIGPT PLBart ParakeetCTC Parakeet Pegasus Perceiver Phobert Pop2Piano ProphetNet Rag Realm Reformer RemBert \
    RetriBert RoCBert RoFormer SeamlessM4T Siglip2 Siglip Speech2Text2 Speech2Text SpeechT5 Splinter SqueezeBert T5 TFBert \
    TFGPT2 Tapas Tapex Tipsv2 TransfoXL Udop VideoPrism Vits Wav2Vec2CTC Wav2Vec2PhonemeCTC Wav2Vec2 Whisper XGLM \
    XLMProphetNet XLM XLNet";
